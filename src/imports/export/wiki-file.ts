/** Name of the wiki pages next to the code, which is `git`: forges append this to the URL of the code. */
export const wikiFile = 'git.wiki.git';
