import { keyOfCall, parseCallAddress } from './call-address.ts';
import type { CallAddress } from './call-address.ts';
import { maxWorkflowBytes } from './workflow-size.ts';

/**
 * A workflow file and the files that its jobs call, in one text: a run stores all of its sources, so that later changes
 * of a branch do not affect it.
 */
export interface Bundle {
  main: string;
  /** Keyed by `keyOfCall`: path from the root of the repository, `.hearth/workflows/build.yml`. */
  called: ReadonlyMap<string, string>;
  /**
   * Commits of other repositories by their base, for claims of identity tokens; null if these were not read, as for
   * lists of workflows.
   */
  commits: ReadonlyMap<string, CalledCommit> | null;
}

/** Source of called files of another repository. */
export interface CalledCommit {
  /** `owner/name` as the repository spells it. */
  repository: string;
  /** Full name of the ref, or the commit id in the address. */
  ref: string;
  sha: string;
}

/** Reads a file of another repository; null if it is missing or not readable. */
export type ReadCalledFile = (address: CallAddress) => Promise<{ text: string; commit: CalledCommit } | null>;

const mark = '#!hearth-bundle\n';
/** Limits of called files: their number as on GitHub, and the bytes that a push makes the server read. */
const maxCalled = 50;
const maxCalledBytes = 3 * maxWorkflowBytes;
/**
 * `uses` of steps may name folders of the repository; a workflow is a file. The repetitions are bounded, so that a file
 * full of unfinished calls takes linear time.
 */
const calls = /\buses["']?[ \t]{0,20}:\s{0,200}["']?([\w.$-][^\s"',}\]#]{1,900})/g;

interface Open {
  text: string;
  base: string | null;
}

/** The calls in a text with their keys. */
function* callsIn({ text, base }: Open): Generator<{ uses: string; key: string; base: string | null }> {
  for (const [, uses = ''] of text.matchAll(calls)) {
    const found = /\.ya?ml(?:@|$)/.test(uses) ? keyOfCall(uses, base) : null;
    if (found !== null) yield { uses, ...found };
  }
}

/** The files collected for a bundle, within the limits. */
class CalledFiles {
  readonly files = new Map<string, string>();
  #bytes = 0;

  /** Returns false if the file is already there or exceeds the limits. */
  add(key: string, text: string): boolean {
    if (this.files.has(key) || this.files.size === maxCalled) return false;
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > maxCalledBytes) return false;
    this.files.set(key, text);
    return true;
  }
}

const write = (main: string, { files }: CalledFiles, commits: Bundle['commits']): string =>
  mark + JSON.stringify({ main, called: Object.fromEntries(files), commits: commits && Object.fromEntries(commits) });

/**
 * Bundles a file with the files of its own repository that it calls directly or indirectly. A file that pretends to be
 * a bundle becomes the main file of one, and its statements about other repositories are ignored.
 * @param files all workflows of the commit, keyed by path from the root of the repository
 */
export function bundle(content: string, files: ReadonlyMap<string, string>): string {
  const called = new CalledFiles();
  let callsOthers = false;
  const open: Open[] = [{ text: content, base: null }];
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    for (const { key, base } of callsIn(at)) {
      if (base !== null) callsOthers = true;
      const text = base === null ? files.get(key) : undefined;
      if (text !== undefined && called.add(key, text)) open.push({ text, base: null });
    }
  }
  if (!callsOthers && called.files.size === 0 && !content.startsWith(mark)) return content;
  return write(content, called, callsOthers ? null : new Map());
}

/** Adds the called files of other repositories to a bundle, each repository at one commit. */
export async function withOthers(content: string, read: ReadCalledFile): Promise<string> {
  const { main, called: own, commits: known } = unbundle(content);
  if (known !== null) return content;
  const called = new CalledFiles();
  for (const [key, text] of own) called.add(key, text);
  const commits = new Map<string, CalledCommit>();
  const asked = new Set<string>();
  const open: Open[] = [main, ...own.values()].map((text) => ({ text, base: null }));
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    for (const { uses, key, base } of callsIn(at)) {
      if (base === null || asked.has(key) || asked.size === maxCalled) continue;
      asked.add(key);
      const found = await read(addressOf(uses, key));
      if (found === null || !called.add(key, found.text)) continue;
      commits.set(base, found.commit);
      open.push({ text: found.text, base });
    }
  }
  return write(main, called, commits);
}

/** A file calls files of its own repository without naming it. */
function addressOf(uses: string, key: string): CallAddress {
  const at = key.lastIndexOf(':');
  const [repository = '', ref = ''] = key.slice(0, at).split('@');
  return parseCallAddress(uses) ?? parseCallAddress(`${repository}/${key.slice(at + 1)}@${ref}`)!;
}

export function unbundle(text: string): Bundle {
  if (!text.startsWith(mark)) return { main: text, called: new Map(), commits: new Map() };
  const { main, called, commits } = JSON.parse(text.slice(mark.length)) as {
    main: string;
    called: { [path: string]: string };
    commits?: { [base: string]: CalledCommit } | null;
  };
  return {
    main,
    called: new Map(Object.entries(called)),
    commits: commits === null ? null : new Map(Object.entries(commits ?? {})),
  };
}
