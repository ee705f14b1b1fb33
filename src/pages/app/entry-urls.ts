/** Number of entries on one page of an issue; positions have no gaps, so a page is a range of them. */
export const entriesPerPage = 200;

/** The page of an issue that contains this entry. @param issue URL of the issue */
export function pageUrl(issue: string, position: number): string {
  const from = Math.floor(position / entriesPerPage) * entriesPerPage;
  return from === 0 ? issue : `${issue}?from=${from}`;
}

/** The URL of an entry on its page. */
export const entryUrl = (issue: string, position: number): string => `${pageUrl(issue, position)}#e${position}`;
