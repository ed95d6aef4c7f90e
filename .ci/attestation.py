"""Every statement that the program writes of a fixture is parsed by in-toto's own package: the statement and the verification
summary have no field that their published schemas do not know, but for one extension, whose name is a URI."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

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


def filter_of(example):
    """The two jq programs of an example workflow."""
    text = pathlib.Path(example).read_text(encoding="utf-8")
    conditions = text.split('--arg folder "#${DEPLOYMENT%/}" \'')[1].split("' verified.json")[0]
    return textwrap.dedent(conditions)


def promoted(program, folder):
    """What docs/examples/promote.yml says of deployments that were judged in this way and that: only the first one goes on."""
    conditions = filter_of("docs/examples/promote.yml")
    root = pathlib.Path(folder, "repository")
    deployment = ".azure/deployments/deploy-20261005-120000"
    shutil.copytree("fixtures/verified-success__gate-tied-to-the-template", root / deployment)
    for name in ["requirements.json", "preflight-report.md"]:
        (root / deployment / name).write_text("{}\n", encoding="utf-8")
    easier = root / "easier.json"
    easier.write_text('{"version": "1.0", "essential_states": ["requirements_gathered"]}', encoding="utf-8")
    ways = [
        ({"evidence": "require"}, deployment, 0),
        ({}, deployment, 1),
        ({"evidence": "off"}, deployment, 1),
        ({"evidence": "require", "coverage-threshold": "50"}, deployment, 1),
        ({"evidence": "require", "model-path": "easier.json"}, deployment, 1),
        ({"evidence": "require"}, ".azure/deployments/another", 1),
    ]
    model = hashlib.sha256(pathlib.Path("src/model/checklist.json").read_bytes()).hexdigest()
    wrong = []
    for inputs, asked, expected in ways:
        environment = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(root),
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_SHA": "3f2c9a1b7d5e0c4f8a6b2d1e9c7f5a3b1d0e8c6a",
            "INPUT_COMMENT": "never",
            "INPUT_DEPLOYMENT-DIR": deployment,
            "INPUT_ATTESTATION-PATH": "attestation.json",
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
        }
        subprocess.run([program.resolve()], env=environment, check=True, capture_output=True)
        statement = json.loads((root / "attestation.json").read_text(encoding="utf-8"))
        verified = json.dumps([{"verificationResult": {"statement": statement}}])
        command = ["jq", "--arg", "model", model, "--arg", "folder", f"#{asked}", conditions]
        told = subprocess.run(command, input=verified, text=True, check=True, capture_output=True).stdout
        code = subprocess.run(["jq", "--exit-status", "all"], input=told, text=True, capture_output=True).returncode
        if code != expected:
            wrong.append(f"{inputs} of {asked}: {told}")
    return len(ways), wrong


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
        ways, wrong = promoted(program, folder)
    for told in wrong:
        print(f"FAILED  promote.yml: {told}")
    passed, failed = passed + ways - len(wrong), failed + len(wrong)
    print(f"attestation: {passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


sys.exit(main())
