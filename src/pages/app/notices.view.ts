import { hasMessage, t } from '../../translation/index.ts';

/**
 * What a page says after a form was accepted, for `?done=…`; or null. The redirect carries only the name of a message,
 * so a made-up address cannot show a sentence of its author's choice.
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
