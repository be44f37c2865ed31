// Reads {"texts": [...]} and prints what write-good finds in each: repeated words, clichés, sentences that begin with So.
import { readFileSync } from "node:fs";
import writeGood from "write-good";

// Passive voice, weasel words and wordiness are judged by people: write-good flags "requirement" and "it is".
const wanted = { passive: false, weasel: false, adverb: false, tooWordy: false, thereIs: false, illusion: true, so: true, cliches: true };
const { texts } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => writeGood(text, wanted).map((found) => found.reason))));
