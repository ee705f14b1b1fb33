/** Entries of one page of an issue; positions have no gaps, so a page is a range of them. */
export const entriesPerPage = 200;

/** The page of an issue that has this entry. @param issue the page of the issue */
export function pageUrl(issue: string, position: number): string {
  const from = Math.floor(position / entriesPerPage) * entriesPerPage;
  return from === 0 ? issue : `${issue}?from=${from}`;
}

/** An entry on its page. */
export const entryUrl = (issue: string, position: number): string => `${pageUrl(issue, position)}#e${position}`;
