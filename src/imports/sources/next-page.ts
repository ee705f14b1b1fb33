import { URL } from 'node:url';

/**
 * The path of the next page from the header `Link`, below the root of the API; null at the end. A URL with another
 * origin or outside of the API counts as the end, so that a source cannot redirect requests.
 */
export function nextPage(link: string | string[] | undefined, api: string): string | null {
  for (const part of String(link ?? '').split(/,\s*(?=<)/)) {
    const [, address, relations = ''] = /^\s*<([^>]{1,4000})>(.*)$/.exec(part) ?? [];
    if (address === undefined || !/;\s*rel="?next"?/.test(relations)) continue;
    const url = URL.parse(address, `${api}/`);
    const root = new URL(api);
    // Behind a proxy a forge may use another host name for itself: only its path and query count.
    if (url === null || !url.pathname.startsWith(`${root.pathname.replace(/\/$/, '')}/`)) return null;
    return `${url.pathname.slice(root.pathname.replace(/\/$/, '').length)}${url.search}`;
  }
  return null;
}
