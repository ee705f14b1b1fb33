import { URL } from 'node:url';

/**
 * The path of the next page by the header `Link`, below the root of the API; null at the end. An address of another
 * origin or outside of the API counts as the end: a source cannot lead anywhere else.
 */
export function nextPage(link: string | string[] | undefined, api: string): string | null {
  for (const part of String(link ?? '').split(/,\s*(?=<)/)) {
    const [, address, relations = ''] = /^\s*<([^>]{1,4000})>(.*)$/.exec(part) ?? [];
    if (address === undefined || !/;\s*rel="?next"?/.test(relations)) continue;
    const url = URL.parse(address, `${api}/`);
    const root = new URL(api);
    // Behind a proxy a forge may write another name of itself: its path and query count.
    if (url === null || !url.pathname.startsWith(`${root.pathname.replace(/\/$/, '')}/`)) return null;
    return `${url.pathname.slice(root.pathname.replace(/\/$/, '').length)}${url.search}`;
  }
  return null;
}
