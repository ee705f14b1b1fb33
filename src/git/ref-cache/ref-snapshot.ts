import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isWellFormedRef } from '../refs/ref-name.ts';
import { findFolders, isObjectId, mergeRefs, readLooseRefs, Unsupported } from './ref-files.ts';
import type { RefEntry } from './ref-files.ts';
import { Fingerprint } from './fingerprint.ts';

/** What HEAD says. */
export interface TableHead {
  /** The branch as a full ref, born or not; null when HEAD names a commit. */
  target: string | null;
  /** Null while the branch is not born. */
  ref: RefEntry | null;
}

/** The refs of one repository as clients see them, and the answers that were made of them. */
export interface RefSnapshot {
  /** Sorted by name; those of the server's own use are left out. */
  refs: readonly RefEntry[];
  head: TableHead;
  /** The text of the repository's settings: with git's version and our settings it decides the capabilities. */
  config: string;
  stamp: Fingerprint;
  /** Ready answers by what was asked. */
  readonly advertisements: Map<string, Buffer>;
  /** A digest of all refs and HEAD. */
  state(): string;
}

/** Answers what objects stand for in the end (`^{}`), null for one that is missing. */
export type Peel = (oids: string[]) => Promise<(string | null)[]>;

const hidden = ['refs/hearth', 'refs/replace'];
/** Settings of these kinds change no answer about refs. */
const ignoredSections = /^\s*\[(?:core|extensions|gc|http|pack|repack|maintenance)\]/i;
const ignoredExtension = /^objectformat\s*=/i;
const attempts = 5;

/**
 * Reads the refs of a repository from its files.
 * Throws `Unusual` for what only git should answer for: symbolic refs besides HEAD, refs
 * without a value or an object, links, grafts, borrowed objects, settings about refs.
 *
 * @param readPacked the refs in packed-refs, which may be known from an earlier time that the stamp agrees with
 * @param known what was found out about objects before; what is found out now is added
 */
export async function readRefSnapshot(
  repository: string,
  readPacked: (now: Fingerprint) => Promise<RefEntry[]>,
  known: Map<string, string | null>,
  peel: Peel,
): Promise<RefSnapshot> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const folders = findFolders(repository);
    const stamp = Fingerprint.take(repository, folders);
    if (stamp.isUnsupported) throw new Unsupported('shallow or borrowed objects');
    // Loose refs first. `pack-refs` and deletions write packed-refs before they remove a
    // loose ref; the other way round, one that is being packed would be in neither place.
    const loose = await readLooseRefs(repository, folders);
    const packed = await readPacked(stamp);
    const [head, config] = [read(repository, 'HEAD'), read(repository, 'config')];
    checkSettings(config);
    const refs = mergeRefs(packed, loose);
    const tip = await readHead(refs, head, known, peel);
    await peelUnknown(refs, known, peel);
    const visible = refs.filter(
      ({ name }) => !hidden.some((prefix) => name === prefix || name.startsWith(`${prefix}/`)),
    );
    if (stamp.isCurrent()) return tableOf(visible, tip, config, stamp);
  }
  throw new Unsupported('the refs keep moving');
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
): Promise<TableHead> {
  const [, target] = /^ref: *(refs\/heads\/\S+)\s*$/.exec(text) ?? [];
  if (target !== undefined && isWellFormedRef(target)) {
    return { target, ref: refs.find(({ name }) => name === target) ?? null };
  }
  const detached: RefEntry = { name: 'HEAD', oid: text.trimEnd(), peeled: undefined };
  if (!isObjectId(detached.oid)) throw new Unsupported('HEAD');
  await peelUnknown([detached], known, peel);
  return { target: null, ref: detached };
}

/** Asks in one go what is not known yet. */
async function peelUnknown(refs: readonly RefEntry[], known: Map<string, string | null>, peel: Peel): Promise<void> {
  for (const ref of refs) if (ref.peeled === undefined) ref.peeled = known.get(ref.oid);
  const open = refs.filter(({ peeled }) => peeled === undefined);
  if (open.length === 0) return;
  const answers = await peel(open.map(({ oid }) => oid));
  open.forEach((ref, at) => {
    const answer = answers[at];
    // git leaves out a ref whose object is missing, and says so to the administrator.
    if (answer === null || answer === undefined) throw new Unsupported(ref.name);
    ref.peeled = answer === ref.oid ? null : answer;
    known.set(ref.oid, ref.peeled);
  });
}

function tableOf(refs: RefEntry[], head: TableHead, config: string, stamp: Fingerprint): RefSnapshot {
  let digest: string | undefined;
  return {
    refs,
    head,
    config,
    stamp,
    advertisements: new Map(),
    state() {
      digest ??= createHash('sha256')
        .update(`${config}\0${head.target}\0${head.ref?.oid}\0`)
        .update(refs.map(({ name, oid }) => `${oid} ${name}\n`).join(''), 'latin1')
        .digest('base64');
      return digest;
    },
  };
}
