/** Matches the all-zero id, which stands for "no ref" or "no object" (gitprotocol-pack(5)), in SHA-1 and SHA-256. */
export const noRef: RegExp = /^0+$/;

const folderOfBranchOrTag = /^refs\/(?:heads|tags)\//;

/** Whether a full name is that of a branch or a tag. */
export const isBranchOrTag = (ref: string): boolean => folderOfBranchOrTag.test(ref);

/** `main` for `refs/heads/main`, `v1` for `refs/tags/v1`; other names stay unchanged. */
export const shortRef = (ref: string): string => ref.replace(folderOfBranchOrTag, '');

/** The branch of a full name; null for every other ref. */
export const branchOf = (ref: string): string | null => (ref.startsWith('refs/heads/') ? shortRef(ref) : null);

/** The tag of a full name; null for every other ref. */
export const tagOf = (ref: string): string | null => (ref.startsWith('refs/tags/') ? shortRef(ref) : null);
