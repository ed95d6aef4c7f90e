# The twelve codes of git-ape's own validator, for an execution trace v1 and its graph:
# jq -c --slurpfile graph graph.json --arg digest sha256:… -f codes.jq trace.json
($graph[0]) as $g
| .events as $events
| ($g.nodes | map(.id)) as $nodes
| ($g.nodes | map(select(.requiredForSuccess) | .id)) as $required
| ($events | map(select(.type == "node" and .status == "completed") | .node) | unique) as $completed
| [
    (if .schemaVersion != "git-ape-execution-trace/v1" then "INVALID_TRACE_SCHEMA" else empty end),
    (if .graph.digest != $digest then "GRAPH_DIGEST_MISMATCH" else empty end),
    ($events[] | select(.type == "node" and (.node as $n | $nodes | index($n) | not)) | "UNDECLARED_NODE"),
    ($events[] | select(.type == "transition") | . as $t
      | ($g.edges | map(select(.from == $t.from and .to == $t.to)) | first) as $edge
      | if $edge == null then "UNDECLARED_TRANSITION"
        elif (($edge.requiredEvidence // []) - ($t.evidence // [])) != [] then "MISSING_REQUIRED_EVIDENCE"
        else empty end),
    (if ([$events[] | select(.type == "node")][0].node) != $g.entryNode then "INVALID_ENTRY_NODE" else empty end),
    (if $g.ordered then
      (if ($events | length) % 2 == 0 then "INVALID_EVENT_SEQUENCE" else empty end),
      ($events | to_entries[] | select(.value.type != (if .key % 2 == 0 then "node" else "transition" end))
        | "INVALID_EVENT_SEQUENCE"),
      (range(1; ($events | length) - 1; 2) as $at
        | select($events[$at].from != $events[$at - 1].node or $events[$at].to != $events[$at + 1].node)
        | "TRANSITION_NODE_MISMATCH")
    else empty end),
    (if .outcome == "succeeded" then
      ($required - $completed | map("MISSING_REQUIRED_NODE")[]),
      (if $completed | index($g.successTerminal) | not then "MISSING_SUCCESS_TERMINAL"
       elif $g.ordered and (($events[-1].type != "node") or $events[-1].node != $g.successTerminal)
         then "INVALID_SUCCESS_TERMINAL" else empty end)
    elif $g.ordered and (($events[-1].type != "node") or $events[-1].status != "failed") then "MISSING_FAILED_TERMINAL"
    else empty end)
  ]
| unique
