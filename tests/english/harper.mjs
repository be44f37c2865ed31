// Reads {"texts": [...], "without": [...]} from standard input: texts to check, and rules to leave out.
// Writes a list for each text: [{"rule", "found", "says"}].
import { readFileSync } from "node:fs";
import { Dialect, LocalLinter } from "harper.js";
import { binary } from "harper.js/binary";

const { texts, without } = JSON.parse(readFileSync(0, "utf8"));
const linter = new LocalLinter({ binary, dialect: Dialect.British });
await linter.setup();
const config = await linter.getDefaultLintConfig();
const unknown = without.filter((rule) => !(rule in config));
if (unknown.length) throw new Error(`Harper has no rule ${unknown}`);
for (const rule of without) config[rule] = false;
await linter.setLintConfig(config);

const found = [];
for (const text of texts) {
  const rules = Object.entries(await linter.organizedLints(text, { language: "plaintext" }));
  found.push(
    rules.flatMap(([rule, lints]) =>
      lints.map((lint) => ({ rule, found: lint.get_problem_text(), says: lint.message() })),
    ),
  );
}
process.stdout.write(JSON.stringify(found));
