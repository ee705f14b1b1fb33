import { invalid } from '../kernel/index.ts';

/** The error that clients of Git LFS get over every transport, instead of "repository not found". */
export const lfsNotStored = () =>
  invalid(
    'lfs_not_stored',
    'This server does not store Git LFS objects yet: push the files without LFS, or set lfs.url to a server that stores them.',
  );
