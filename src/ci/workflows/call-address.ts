/** A workflow of another repository, as `uses` names it: `owner/name/.github/workflows/build.yml@v1`. */
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

/** The commit that an address is of, as a text: files of one base are read from one commit. */
export const baseOf = ({ owner, name, ref }: CallAddress): string => `${owner}/${name}`.toLowerCase() + `@${ref}`;

/**
 * The key under which a bundle has the file that `uses` names; null when it names none.
 * @param base where the calling file is from; null for the repository of the run
 */
export function keyOfCall(uses: string, base: string | null): { key: string; base: string | null } | null {
  const own = pathInOwnRepository(uses);
  if (own !== null) return { key: keyAt(base, own), base };
  const other = parseCallAddress(uses);
  return other && { key: keyAt(baseOf(other), other.path), base: baseOf(other) };
}

/** The path in the repository of the calling file: `./path` and `$/path`; null for an address elsewhere. */
export const pathInOwnRepository = (uses: string): string | null => /^[.$]\/(.*)$/s.exec(uses)?.[1] ?? null;

/** A ref contains no colon (git-check-ref-format(1)), so that keys are distinct. */
const keyAt = (base: string | null, path: string): string => (base === null ? path : `${base}:${path}`);
