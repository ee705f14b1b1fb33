/** Prefix of error messages in this folder; a list of errors has it once. */
export const releasesPrefix = 'Releases: ';
