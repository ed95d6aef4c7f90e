"""Every statement that the program writes of a fixture is parsed by in-toto's own package: the statement and the verification
summary have no field that their published schemas do not know, but for one extension, whose name is a URI."""

import json
import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import json_format
from in_toto_attestation.predicates.vsa.v1 import vsa_pb2
from in_toto_attestation.v1 import statement, statement_pb2

EXTENSION = "https://github.com/Azure/process-integrity/report/v1"


def validate(document):
    """Raises where the document is no in-toto statement with a verification summary."""
    parsed = json_format.ParseDict(document, statement_pb2.Statement())
    statement.Statement.copy_from_pb(parsed).validate()
    predicate = dict(document["predicate"])
    # in-toto, parsing rules: an extension is a property whose name is a TypeURI.
    predicate.pop(EXTENSION)
    # Since SLSA 1.1; the package knows the schema of 1.0.
    verifier = dict(predicate["verifier"])
    version = verifier.pop("version")
    if not all(isinstance(text, str) for pair in version.items() for text in pair):
        raise ValueError(f"verifier.version is no map of texts: {version}")
    # A list in the specification, which is the canonical source; the package's schema has a single text.
    levels = predicate.pop("verifiedLevels")
    if not isinstance(levels, list) or not levels or not all(isinstance(level, str) for level in levels):
        raise ValueError(f"verifiedLevels is no list of texts: {levels}")
    summary = json_format.ParseDict({**predicate, "verifier": verifier}, vsa_pb2.VerificationSummary())
    for field in ["verifier", "time_verified", "policy"]:
        if not summary.HasField(field):
            raise ValueError(f"{field} is required")
    if not summary.resource_uri:
        raise ValueError("resourceUri is required")
    if summary.verification_result not in ("PASSED", "FAILED"):
        raise ValueError(f"verificationResult is {summary.verification_result}")


def main():
    program = pathlib.Path(sys.argv[1])
    cases = sorted(case.parent for case in pathlib.Path("fixtures").glob("*/case.json"))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "attestation.json")
        for case in cases:
            command = [program, "check", "--format", "json", "--attestation", path, case]
            subprocess.run(command, check=False, capture_output=True)
            try:
                validate(json.loads(path.read_text(encoding="utf-8")))
                passed += 1
            except (ValueError, KeyError, json_format.ParseError) as error:
                print(f"FAILED  {case}: {error}")
                failed += 1
            finally:
                path.unlink(missing_ok=True)
    print(f"attestation: {passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


sys.exit(main())
