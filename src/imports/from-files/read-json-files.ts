import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';
import { listOf, objectOf } from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';
import type { TellProblem } from '../sources/source.ts';
import { fileLimits } from './file-limits.ts';

/** Null for an absent file; undefined for an invalid one. */
export async function readJsonFile(file: string): Promise<unknown> {
  const found = await stat(file).catch(nullIfAbsent);
  if (found === null) return null;
  if (!found.isFile() || found.size > fileLimits.jsonBytes) return undefined;
  return parse(await readFile(file, 'utf8'));
}

/** The rows of `issues_000001.json` and its successors, file by file, as GitHub numbers them. */
export async function* readNumberedFiles(folder: string, kind: string, tell: TellProblem): AsyncGenerator<Json[]> {
  for (let at = 1; at <= fileLimits.jsonFiles; at += 1) {
    const name = `${kind}_${String(at).padStart(6, '0')}.json`;
    const found = await readJsonFile(path.join(folder, name));
    if (found === null) return;
    if (Array.isArray(found)) yield listOf(found);
    else tell(name, 'cannot be read and did not come');
  }
}

/** The rows of a file with one JSON object per line. */
export async function* readLines(folder: string, name: string, tell: TellProblem): AsyncGenerator<Json> {
  const file = path.join(folder, name);
  if ((await stat(file).catch(nullIfAbsent))?.isFile() !== true) return;
  let [parts, held, lost, isTooLong]: [Buffer[], number, number, boolean] = [[], 0, 0, false];
  const take = (): Json | null => {
    const text = Buffer.concat(parts).toString('utf8').trim();
    const isLost = isTooLong;
    [parts, held, isTooLong] = [[], 0, false];
    if (text === '' && !isLost) return null;
    const value = isLost ? undefined : parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return objectOf(value);
    lost += 1;
    return null;
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      from = end + 1;
      const row = take();
      if (row !== null) yield row;
    }
    if (isTooLong) continue;
    parts.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held <= fileLimits.jsonBytes) continue;
    // Discards the content and looks for its end.
    [parts, held, isTooLong] = [[], 0, true];
  }
  const last = take();
  if (last !== null) yield last;
  if (lost > 0) tell(name, lost === 1 ? 'a line that cannot be read did not come' : `${lost} lines did not come`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
