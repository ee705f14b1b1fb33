import { hasMessage, t } from '../../translation/index.ts';

/**
 * The notice that a page shows after an accepted form, from `?done=…`; or null. The redirect contains only the name of
 * a message, so a crafted URL cannot show its author's text.
 */
export function viewNotice(query: URLSearchParams): string | null {
  const notice = query.get('done') ?? '';
  if (!/^[a-z]+(?:-[a-z]+)*$/.test(notice)) return null;
  const name = notice.replaceAll('-', '_');
  return hasMessage(`notices.${name}`) ? t(`notices.${name}`) : null;
}

/** A path with the key of the notice that its page should show. */
export const withNotice = (path: string, notice: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}done=${notice}`;
