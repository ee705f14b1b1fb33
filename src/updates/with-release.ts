import { openRelease } from './open-release.ts';
import type { ReleaseFiles } from './open-release.ts';
import { readSignedSums } from './read-signed-sums.ts';
import type { SignedSums } from './read-signed-sums.ts';
import { readSigners } from './read-signers.ts';

/** A release and who may have signed it. */
export interface ReleaseSource {
  /** An address that begins with http:// or https://, or a folder. */
  from: string;
  /** A file in the format of ssh-keygen's `allowed_signers`. */
  signers: string;
  caFile: string | null;
}

/**
 * What `use` makes of a release whose sums are signed; nothing is asked before the signers are known.
 * Refuses as `readSigners` and `readSignedSums` do.
 */
export async function withRelease<Result>(
  source: ReleaseSource,
  use: (sums: SignedSums, files: ReleaseFiles) => Result | Promise<Result>,
): Promise<Result> {
  const signers = await readSigners(source.signers);
  const files = openRelease(source.from, source);
  try {
    return await use(await readSignedSums(files, signers), files);
  } finally {
    files.close();
  }
}
