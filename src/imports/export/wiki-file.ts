/** Name of the pages of a wiki beside the code, which is `git`: forges append this to the address of the code. */
export const wikiFile = 'git.wiki.git';
