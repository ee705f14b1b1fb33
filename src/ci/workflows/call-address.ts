/** Address of a workflow of another repository in `uses`: `owner/name/.github/workflows/build.yml@v1`. */
export interface CallAddress {
  owner: string;
  name: string;
  /** From the root of that repository. */
  path: string;
  /** A tag, a branch or a commit id. */
  ref: string;
}

const address =
  /^([\w.-]{1,100})\/([\w.-]{1,100})\/(\.(?:hearth|forgejo|gitea|github)\/workflows\/[^@]{1,500}\.ya?ml)@([^@]{1,250})$/;

/** Null for anything else, such as `./.hearth/workflows/build.yml`. */
export function parseCallAddress(uses: string): CallAddress | null {
  const [, owner, name, path, ref] = address.exec(uses) ?? [];
  return owner === undefined || path!.includes('..') ? null : { owner, name: name!, path: path!, ref: ref! };
}

/** Identifies the commit of an address; files with the same base are read from one commit. */
export const baseOf = ({ owner, name, ref }: CallAddress): string => `${owner}/${name}`.toLowerCase() + `@${ref}`;

/**
 * The key in a bundle of the file that `uses` names; null if it names none.
 * @param base source of the calling file; null for the repository of the run
 */
export function keyOfCall(uses: string, base: string | null): { key: string; base: string | null } | null {
  const own = pathInOwnRepository(uses);
  if (own !== null) return { key: keyAt(base, own), base };
  const other = parseCallAddress(uses);
  return other && { key: keyAt(baseOf(other), other.path), base: baseOf(other) };
}

/** Path within the repository of the calling file: `./path` and `$/path`; null for other addresses. */
export const pathInOwnRepository = (uses: string): string | null => /^[.$]\/(.*)$/s.exec(uses)?.[1] ?? null;

/** A ref contains no colon (git-check-ref-format(1)), so keys are distinct. */
const keyAt = (base: string | null, path: string): string => (base === null ? path : `${base}:${path}`);
