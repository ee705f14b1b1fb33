import { invalid } from '../kernel/index.ts';

/** What clients of Git LFS are told over every transport, in place of "repository not found". */
export const lfsNotStored = () =>
  invalid(
    'lfs_not_stored',
    'This server does not store Git LFS objects yet: push the files without LFS, or set lfs.url to a server that stores them.',
  );
