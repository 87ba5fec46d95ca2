// Makes the search's index of the documents on standard input: node search_index.mjs OPTIONS < documents.json
import MiniSearch from "minisearch";
import { OPTIONS } from "./search_options.mjs";

let text = "";
for await (const part of process.stdin) text += part;
const index = new MiniSearch(OPTIONS);
index.addAll(JSON.parse(text));
process.stdout.write(JSON.stringify(index));
