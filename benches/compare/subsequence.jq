# Checks that six states complete in order, event by event: jq -n --argjson states '["a","b"]' -f subsequence.jq trace.jsonl
# Nothing else is looked at: no status table, no damage, no clock, no guards.
reduce inputs as $event (0;
  if . < ($states | length) and $event.state == $states[.] and $event.status == "completed" then . + 1 else . end)
| if . == ($states | length) then "covered" else "covered up to \($states[.])" end
