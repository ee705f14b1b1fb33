import { isUtf8 } from 'node:buffer';
import { notFound } from '../../kernel/index.ts';
import { mayBeNamed } from '../objects/browse.ts';
import type { BrowseDeps, RevisionOptions } from '../objects/browse.ts';
import { isWellFormedRef, isWholeId } from '../refs/ref-name.ts';

type RefKind = 'branch' | 'tag' | 'head' | 'commit';

/** A name that resolves to a commit, and the path after it. */
export interface RefPath {
  kind: RefKind;
  /** The ref for URLs: `main`, `v1.0`, `HEAD`, a commit id; the full name for a tag with the same name as a branch. */
  ref: string;
  /** Without its folder, for display. */
  name: string;
  /** Whether a short name was given that is both a branch and a tag. */
  isAmbiguous: boolean;
  /** The commit. */
  oid: string;
  /** The path below the root, empty for the root: bytes, because file names are bytes. */
  file: Buffer;
}

/** Limit of path components that are tried as a ref name: refs have fewer, and a URL must not cause more lookups. */
const maxComponents = 40;
const shortId = /^[0-9a-f]{4,64}$/;

interface Candidate {
  kind: RefKind;
  /** Without its folder. */
  ref: string;
  /** Form of the name in the URL. */
  form: 'full' | 'short' | 'folder';
  /** The name to look up with `cat-file`. */
  name: string;
  components: number;
}

/**
 * Splits `feature/x/src/main.c` into a ref and a path. A full name (`refs/heads/…`, `refs/tags/…`) always wins; then
 * the longest existing ref, a branch before a tag of the same name, names before abbreviated commit ids; then full
 * names without `refs/`, as in git. A full id names only that commit. Takes one round trip for any number of slashes.
 * Throws `revision_not_found`.
 * @param options.tagsFirst whether a tag precedes a branch of the same name, as in git: for downloads
 */
export async function resolveRefPath(
  deps: BrowseDeps,
  path: string,
  rest: Buffer,
  { tagsFirst = false, ...options }: RevisionOptions & { tagsFirst?: boolean } = {},
): Promise<RefPath> {
  const parts = rest
    .toString('latin1')
    .split('/')
    .filter((part) => part !== '');
  const candidates = candidatesOf(parts, tagsFirst);
  const infos =
    candidates.length === 0
      ? []
      : await deps.readers.use(path, (reader) => reader.infos(candidates.map(({ name }) => `${name}^{commit}`)));
  const at = infos.findIndex((info) => info?.type === 'commit');
  const [found, info] = [candidates[at], infos[at]];
  if (!found || !info || (found.kind === 'commit' && !(await mayBeNamed(deps, path, found.ref, info.oid, options)))) {
    throw notFound('revision_not_found', 'There is no such branch, tag, commit or file.');
  }
  const file = Buffer.from(parts.slice(found.components).join('/'), 'latin1');
  const { kind, ref: name, form } = found;
  // The trailing components of a name are the same for its twin.
  const twin = kind === 'branch' ? 'tag' : kind === 'tag' ? 'branch' : null;
  const twinName = `refs/${twin === 'tag' ? 'tags' : 'heads'}/${name}`;
  const looked = candidates.findIndex((candidate) => candidate.name === twinName);
  const isTwin = twin !== null && (looked < 0 ? await isThere(deps, path, twinName) : infos[looked]?.type === 'commit');
  const ref = kind === 'tag' && isTwin ? `refs/tags/${name}` : name;
  return { kind, ref, name, oid: info.oid, file, isAmbiguous: isTwin && form === 'short' };
}

async function isThere({ readers }: BrowseDeps, path: string, name: string): Promise<boolean> {
  const [info] = await readers.use(path, (reader) => reader.infos([`${name}^{commit}`]));
  return info?.type === 'commit';
}

const folders = { heads: 'branch', tags: 'tag' } as const;

function candidatesOf(parts: readonly string[], tagsFirst: boolean): Candidate[] {
  const [first = '', second = ''] = parts;
  return [
    ...(first === 'refs' ? withFolder(parts, 1, second, 'full') : []),
    ...shortCandidates(parts, tagsFirst).filter(({ kind, ref }) => kind === 'commit' || !isWholeId(ref)),
    ...withFolder(parts, 0, first, 'folder'),
  ];
}

/** Names that include their folder, the longest first. @param at index of the component with the folder */
function withFolder(parts: readonly string[], at: 0 | 1, folder: string, form: Candidate['form']): Candidate[] {
  if (folder !== 'heads' && folder !== 'tags') return [];
  return shortCandidates(parts.slice(at + 1), false)
    .filter(({ kind }) => kind === folders[folder])
    .map((candidate) => ({ ...candidate, form, components: candidate.components + at + 1 }));
}

function shortCandidates(parts: readonly string[], tagsFirst: boolean): Candidate[] {
  const found: Candidate[] = [];
  const form = 'short';
  for (let components = Math.min(parts.length, maxComponents); components > 0; components -= 1) {
    const bytes = Buffer.from(parts.slice(0, components).join('/'), 'latin1');
    // git is queried in text; a ref that is not UTF-8 cannot have been pushed here.
    if (!isUtf8(bytes)) continue;
    const ref = bytes.toString('utf8');
    if (isWellFormedRef(`refs/heads/${ref}`)) {
      const branch: Candidate = { kind: 'branch', ref, form, name: `refs/heads/${ref}`, components };
      const tag: Candidate = { kind: 'tag', ref, form, name: `refs/tags/${ref}`, components };
      found.push(...(tagsFirst ? [tag, branch] : [branch, tag]));
    }
    if (components === 1 && ref === 'HEAD') found.push({ kind: 'head', ref, form, name: 'HEAD', components });
    if (components === 1 && shortId.test(ref)) found.push({ kind: 'commit', ref, form, name: ref, components });
  }
  return found;
}
