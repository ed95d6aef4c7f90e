# The same as subsequence.jq with jq's streaming parser, whose memory does not grow with a record:
# jq -n --stream --argjson states '["a","b"]' -f stream.jq trace.jsonl
reduce fromstream(inputs) as $event (0;
  if . < ($states | length) and $event.state == $states[.] and $event.status == "completed" then . + 1 else . end)
| if . == ($states | length) then "covered" else "covered up to \($states[.])" end
