import { maxWorkflowBytes } from './workflow-size.ts';

/**
 * A workflow file together with the files that its jobs call, in one text: a run stores all of its sources, so later
 * changes of a branch do not affect it.
 */
export interface Bundle {
  main: string;
  /** Keyed by path from the root of the repository: `.hearth/workflows/build.yml`. */
  called: ReadonlyMap<string, string>;
}

const mark = '#!hearth-bundle\n';
/**
 * Limits of called files; together they have at most as many bytes as one file, so that a push makes the server read a
 * bounded amount.
 */
const maxCalled = 20;
/**
 * Steps may use folders of the repository; a workflow is a file. The repetitions are bounded, so that a file of
 * nothing but beginnings of calls takes linear time.
 */
const calls = /\buses["']?[ \t]{0,20}:\s{0,200}["']?\.\/([^\s"',}\]#]{1,500}\.ya?ml)/g;

/**
 * A file with those that it calls, and that these call.
 * @param files all workflows of the commit, keyed by path from the root of the repository
 */
export function bundle(content: string, files: ReadonlyMap<string, string>): string {
  let bytes = 0;
  const called = new Map<string, string>();
  const open = [content];
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    for (const [, path = ''] of at.matchAll(calls)) {
      const text = files.get(path);
      if (text === undefined || called.has(path) || called.size === maxCalled) continue;
      bytes += Buffer.byteLength(text);
      if (bytes > maxWorkflowBytes) continue;
      called.set(path, text);
      open.push(text);
    }
  }
  return called.size === 0 ? content : mark + JSON.stringify({ main: content, called: Object.fromEntries(called) });
}

export function unbundle(text: string): Bundle {
  if (!text.startsWith(mark)) return { main: text, called: new Map() };
  const { main, called } = JSON.parse(text.slice(mark.length)) as { main: string; called: { [path: string]: string } };
  return { main, called: new Map(Object.entries(called)) };
}
