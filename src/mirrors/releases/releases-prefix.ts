/** How the refusals of this folder begin; a list of them has it once. */
export const releasesPrefix = 'Releases: ';
