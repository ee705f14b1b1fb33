import { createHash } from 'node:crypto';
import type { JsonObject } from './json.ts';
import { summarizeEvent } from './summarize-event.ts';
import type { EventSummary } from './summarize-event.ts';
import type { WebhookKind, WebhookRow } from './webhook-schema.ts';

/** A request to a receiver, without its signature. */
interface FormattedDelivery {
  method: 'POST' | 'PUT';
  url: string;
  contentType: string;
  body: Buffer;
  headers: Record<string, string>;
}

type Receiver = Pick<WebhookRow, 'kind' | 'url' | 'contentType' | 'channel'>;
type Format = (summary: EventSummary, to: Receiver, uuid: string) => Partial<FormattedDelivery> & { json?: unknown };

const name = 'Hearth';
const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
/** Escapes Slack's markup. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
const colour = 0xd97706;

/** Receivers of the payload itself. */
type ForgeKind = 'gitea' | 'forgejo' | 'gogs';
const isForge = (kind: WebhookKind): kind is ForgeKind => kind === 'gitea' || kind === 'forgejo' || kind === 'gogs';

/**
 * Messages for chats, following the documentation of each receiver. Escapes user text if the receiver reads markup, and
 * disables mentions of everyone.
 */
const formats: Readonly<Record<Exclude<WebhookKind, ForgeKind>, Format>> = {
  slack: ({ title, text, url }, { channel }) => ({
    json: {
      ...(channel !== '' && { channel }),
      username: name,
      text: `<${url}|${escapeSlack(title)}>`,
      ...(text !== '' && {
        attachments: [{ color: '#d97706', text: escapeSlack(text), fallback: escapeSlack(title) }],
      }),
    },
  }),
  discord: ({ title, text, url, sender }) => ({
    json: {
      username: name,
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: cut(title, 256),
          description: cut(text, 2048),
          url,
          color: colour,
          author: { name: cut(sender.name, 256), url: sender.url, icon_url: sender.avatar },
        },
      ],
    },
  }),
  matrix: ({ title, text, url }, to, uuid) => ({
    method: 'PUT',
    url: `${to.url.replace(/\/$/, '')}/${createHash('sha256').update(uuid).digest('hex').slice(0, 32)}`,
    json: {
      msgtype: 'm.notice',
      format: 'org.matrix.custom.html',
      body: [title, url, text].filter((part) => part !== '').join('\n'),
      formatted_body: `<a href="${escapeHtml(url)}">${escapeHtml(title)}</a>${
        text === '' ? '' : `<br>${escapeHtml(text).replaceAll('\n', '<br>')}`
      }`,
    },
  }),
  telegram: ({ title, text, url }) => ({
    json: {
      text: cut(`<a href="${escapeHtml(url)}">${escapeHtml(title)}</a>\n${escapeHtml(text)}`.trim(), 4096),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    },
  }),
  msteams: ({ title, text, url, sender }) => ({
    json: {
      '@type': 'MessageCard',
      '@context': 'https://schema.org/extensions',
      themeColor: 'd97706',
      title: escapeHtml(title),
      summary: title,
      sections: [{ activityTitle: escapeHtml(sender.name), text: escapeHtml(text).replaceAll('\n', '<br>') }],
      potentialAction: [{ '@type': 'OpenUri', name: 'View', targets: [{ os: 'default', uri: url }] }],
    },
  }),
  ntfy: ({ title, text, url }) => ({
    contentType: 'text/plain; charset=utf-8',
    body: Buffer.from(cut(text === '' ? title : `${title}\n${text}`, 4000)),
    // A header cannot contain other characters; the title is also in the body.
    headers: { 'X-Title': name, 'X-Click': encodeURI(url) },
  }),
};

/**
 * Formats the request of a delivery: the payload as JSON or form, or a chat message.
 * @param payload the JSON of the event in Gitea's format
 * @param uuid id of the delivery, by which some chats ignore repeats
 */
export function formatDelivery(
  to: Receiver,
  { event, uuid }: { event: string; uuid: string },
  payload: string,
): FormattedDelivery {
  const usual = { method: 'POST' as const, url: to.url, headers: {} };
  const { kind } = to;
  if (isForge(kind)) {
    return to.contentType === 'form'
      ? {
          ...usual,
          contentType: 'application/x-www-form-urlencoded',
          body: Buffer.from(new URLSearchParams({ payload }).toString()),
        }
      : { ...usual, contentType: 'application/json', body: Buffer.from(payload) };
  }
  const summary = summarizeEvent(event, JSON.parse(payload) as JsonObject);
  const { json, ...formatted } = formats[kind](summary, to, uuid);
  const body = formatted.body ?? Buffer.from(JSON.stringify(json));
  return { ...usual, contentType: 'application/json', ...formatted, body };
}
