import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { visitAll } from '../../kernel/index.ts';
import { isWellFormedRef } from '../refs/ref-name.ts';
import { findFolders, isObjectId, mergeRefs, readLooseRefs, Unsupported } from './ref-files.ts';
import type { RefEntry } from './ref-files.ts';
import { Fingerprint } from './fingerprint.ts';

/** The content of HEAD. */
interface SnapshotHead {
  /** The branch as a full ref, with or without commits; null if HEAD is detached. */
  target: string | null;
  /** Null if the branch has no commits yet. */
  ref: RefEntry | null;
}

/** The refs of one repository as clients see them, and the responses built from them. */
export interface RefSnapshot {
  /** Sorted by name, without the server's hidden refs. */
  refs: readonly RefEntry[];
  head: SnapshotHead;
  /**
   * The text of the repository's settings, which together with git's version and the server's settings determines the
   * capabilities.
   */
  config: string;
  fingerprint: Fingerprint;
  /** Cached responses, keyed by the request. */
  readonly advertisements: Map<string, Buffer>;
  /** A digest of all refs and HEAD. */
  state(): string;
}

/** Returns the peeled ids of objects (`^{}`), null for a missing one. */
export type Peel = (oids: string[]) => Promise<(string | null)[]>;

/** Settings in these sections do not affect responses about refs. */
const ignoredSections = /^\s*\[(?:core|extensions|gc|http|pack|repack|maintenance)\]/i;
const ignoredExtension = /^objectformat\s*=/i;
const attempts = 5;

const isHidden = ({ name }: RefEntry): boolean => isIn(name, 'refs/hearth') || isIn(name, 'refs/replace');
const isIn = (name: string, folder: string): boolean =>
  name.startsWith(folder) && (name.length === folder.length || name[folder.length] === '/');

/** Number of refs hashed in one piece. */
const hashedAtOnce = 1_000;

/**
 * Reads the refs of a repository from its files. Throws `Unsupported` for repositories that only git should list:
 * symbolic refs besides HEAD, refs without a value or an object, links, grafts, borrowed objects, settings about refs.
 * @param readPacked the refs in packed-refs, possibly from an earlier read that the fingerprint confirms
 * @param known earlier peeled ids; new ones are added
 */
export async function readRefSnapshot(
  repository: string,
  readPacked: (now: Fingerprint) => Promise<RefEntry[]>,
  known: Map<string, string | null>,
  peel: Peel,
): Promise<RefSnapshot> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const folders = findFolders(repository);
    const fingerprint = Fingerprint.take(repository, folders);
    if (fingerprint.isUnsupported) throw new Unsupported('shallow or borrowed objects');
    // Loose refs first. `pack-refs` and deletions write packed-refs before they remove a loose ref; in the other
    // order, a ref that is being packed would be in neither place.
    const loose = await readLooseRefs(repository, folders);
    const packed = await readPacked(fingerprint);
    const [head, config] = [read(repository, 'HEAD'), read(repository, 'config')];
    checkSettings(config);
    const refs = await mergeRefs(packed, loose);
    const tip = await readHead(refs, head, known, peel);
    await peelUnknown(refs, known, peel);
    const visible = await withoutHidden(refs);
    if (fingerprint.isCurrent()) return snapshotOf(visible, tip, config, fingerprint);
  }
  throw new Unsupported('the refs keep moving');
}

/** The same list if no ref is hidden. */
async function withoutHidden(refs: readonly RefEntry[]): Promise<readonly RefEntry[]> {
  let hidden = 0;
  await visitAll(refs, (ref) => void (hidden += isHidden(ref) ? 1 : 0));
  if (hidden === 0) return refs;
  const visible: RefEntry[] = [];
  await visitAll(refs, (ref) => {
    if (!isHidden(ref)) visible.push(ref);
  });
  return visible;
}

const read = (repository: string, name: string) => readFileSync(`${repository}/${name}`, 'latin1');

function checkSettings(config: string): void {
  let section = '';
  for (const line of config.split('\n')) {
    if (/^\s*\[/.test(line)) section = line;
    else if (/^\s*\[extensions\]/i.test(section) && !ignoredExtension.test(line.trim()) && line.trim() !== '')
      throw new Unsupported(line);
    if (section !== '' && !ignoredSections.test(section)) throw new Unsupported(section);
  }
}

async function readHead(
  refs: readonly RefEntry[],
  text: string,
  known: Map<string, string | null>,
  peel: Peel,
): Promise<SnapshotHead> {
  const [, target] = /^ref: *(refs\/heads\/\S+)\s*$/.exec(text) ?? [];
  if (target !== undefined && isWellFormedRef(target)) {
    return { target, ref: refs.find(({ name }) => name === target) ?? null };
  }
  const detached: RefEntry = { name: 'HEAD', oid: text.trimEnd(), peeled: undefined };
  if (!isObjectId(detached.oid)) throw new Unsupported('HEAD');
  await peelUnknown([detached], known, peel);
  return { target: null, ref: detached };
}

/** Looks up unknown ids in one batch. */
async function peelUnknown(refs: readonly RefEntry[], known: Map<string, string | null>, peel: Peel): Promise<void> {
  const open: RefEntry[] = [];
  await visitAll(refs, (ref) => {
    if (ref.peeled === undefined) ref.peeled = known.get(ref.oid);
    if (ref.peeled === undefined) open.push(ref);
  });
  if (open.length === 0) return;
  const results = await peel(open.map(({ oid }) => oid));
  await visitAll(open, (ref, at) => {
    const result = results[at];
    // git omits a ref whose object is missing, and warns the administrator.
    if (result === null || result === undefined) throw new Unsupported(ref.name);
    ref.peeled = result === ref.oid ? null : result;
    known.set(ref.oid, ref.peeled);
  });
}

function snapshotOf(
  refs: readonly RefEntry[],
  head: SnapshotHead,
  config: string,
  fingerprint: Fingerprint,
): RefSnapshot {
  let digest: string | undefined;
  return {
    refs,
    head,
    config,
    fingerprint,
    advertisements: new Map(),
    state() {
      if (digest !== undefined) return digest;
      const hash = createHash('sha256').update(`${config}\0${head.target}\0${head.ref?.oid}\0`);
      for (let start = 0; start < refs.length; start += hashedAtOnce) {
        let text = '';
        for (const { name, oid } of refs.slice(start, start + hashedAtOnce)) text += `${oid} ${name}\n`;
        hash.update(text, 'latin1');
      }
      return (digest = hash.digest('base64'));
    },
  };
}
