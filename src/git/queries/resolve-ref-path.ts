import { isUtf8 } from 'node:buffer';
import { notFound } from '../../kernel/index.ts';
import { mayBeNamed } from '../objects/browse.ts';
import type { BrowseDeps, RevisionOptions } from '../objects/browse.ts';
import { isWellFormedRef } from '../refs/ref-name.ts';

export type RefKind = 'branch' | 'tag' | 'head' | 'commit';

/** A name that resolves to a commit, and the path behind it. */
export interface RefPath {
  kind: RefKind;
  /** As the URL spells it: `main`, `v1.0`, `HEAD`, a commit id. */
  ref: string;
  /** The commit. */
  oid: string;
  /** The path below the root, empty for the root: bytes, because names are bytes. */
  file: Buffer;
}

/** Limit of path components that are tried as a ref name: no ref has more, and no URL may cause more lookups. */
const maxComponents = 40;
const shortId = /^[0-9a-f]{4,64}$/;

interface Candidate {
  kind: RefKind;
  ref: string;
  /** The name that is looked up with `cat-file`. */
  name: string;
  components: number;
}

/**
 * Splits `feature/x/src/main.c` into a ref and a path: the longest ref that exists wins,
 * a branch before a tag of the same name, names before commit ids. One round trip,
 * however many slashes there are.
 * Refuses `revision_not_found`.
 */
export async function resolveRefPath(
  deps: BrowseDeps,
  path: string,
  rest: Buffer,
  options: RevisionOptions = {},
): Promise<RefPath> {
  const parts = rest
    .toString('latin1')
    .split('/')
    .filter((part) => part !== '');
  const candidates = candidatesOf(parts);
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
  return { kind: found.kind, ref: found.ref, oid: info.oid, file };
}

function candidatesOf(parts: readonly string[]): Candidate[] {
  const found: Candidate[] = [];
  for (let components = Math.min(parts.length, maxComponents); components > 0; components -= 1) {
    const bytes = Buffer.from(parts.slice(0, components).join('/'), 'latin1');
    // git is asked in text; a ref that is not UTF-8 cannot have been pushed here.
    if (!isUtf8(bytes)) continue;
    const ref = bytes.toString('utf8');
    if (isWellFormedRef(`refs/heads/${ref}`)) {
      found.push(
        { kind: 'branch', ref, name: `refs/heads/${ref}`, components },
        { kind: 'tag', ref, name: `refs/tags/${ref}`, components },
      );
    }
    if (components === 1 && ref === 'HEAD') found.push({ kind: 'head', ref, name: 'HEAD', components });
    if (components === 1 && shortId.test(ref)) found.push({ kind: 'commit', ref, name: ref, components });
  }
  return found;
}
