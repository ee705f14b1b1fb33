import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { conflict } from '../kernel/index.ts';
import { programName } from './read-signed-sums.ts';
import { withRelease } from './with-release.ts';
import type { ReleaseSource } from './with-release.ts';

/** A program file beside the sum that was signed for it. */
interface VerifiedProgram {
  file: string;
  sha256: string;
  isGenuine: boolean;
}

/**
 * Compares a program file with the signed sums of its release. Throws `release_of_other_version`, and as `withRelease`
 * does.
 */
export function verifyProgram(
  source: ReleaseSource,
  program: { file: string; version: string; arch: string },
): Promise<VerifiedProgram> {
  return withRelease(source, async ({ version, sums }) => {
    const signed = sums.get(programName(program.version, program.arch));
    if (version !== program.version || signed === undefined)
      throw conflict(
        'release_of_other_version',
        `${source.from} has Hearth ${version}, and this program is ${program.version} for ${program.arch}.`,
      );
    const hash = createHash('sha256');
    await pipeline(createReadStream(program.file), hash);
    const sha256 = hash.digest('hex');
    return { file: program.file, sha256, isGenuine: sha256 === signed };
  });
}
