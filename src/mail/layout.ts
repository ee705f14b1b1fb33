import { currentLanguage, findLanguage } from '../translation/index.ts';

/** Limit of one part of a mail, in characters: a comment may be much longer than is readable in a mail. */
const maxPart = 20_000;

/** One part of the body. */
export type MailPart =
  /** A paragraph. */
  | string
  /** Text of a user, with its line breaks. */
  | { quote: string; by?: string }
  /** The same, rendered: the caller sanitises the HTML, which must load nothing. */
  | { text: string; html: string; by?: string }
  /** One item of a digest, with a label. */
  | { link: MailLink; note?: string }
  /** Names and values: device, time, address. */
  | { facts: readonly (readonly [name: string, value: string])[] };

interface MailLink {
  text: string;
  /** http or https. */
  url: string;
}

export interface MailContent {
  /** First line, in larger letters. */
  title: string;
  parts: readonly MailPart[];
  /** The main action, as a button. */
  action?: MailLink;
  /** After the button. */
  after?: readonly string[];
  /** The reason for this mail, and how to unsubscribe. */
  footer: readonly (string | MailLink)[];
}

/**
 * A mail as text and as HTML. The HTML has no images, no scripts and loads nothing; its colours follow the reader's
 * light or dark mode, and without style sheets it is a plain readable page.
 */
export function layout(content: MailContent): { text: string; html: string } {
  return { text: asText(content), html: asHtml(content) };
}

const cut = (text: string): string => (text.length <= maxPart ? text : `${text.slice(0, maxPart).trimEnd()} …`);

function asText({ title, parts, action, after = [], footer }: MailContent): string {
  const blocks = [
    title,
    ...parts.map((part) => {
      if (typeof part === 'string') return cut(part);
      if ('facts' in part) return part.facts.map(([name, value]) => `${name}: ${value}`).join('\n');
      if ('link' in part)
        return [part.link.text, checkedUrl(part.link.url), ...(part.note === undefined ? [] : [part.note])].join('\n');
      const quoted = cut('quote' in part ? part.quote : part.text)
        .split(/\r?\n/)
        .map((line) => (line === '' ? '>' : `> ${line}`));
      return [...(part.by === undefined ? [] : [`${part.by}:`]), ...quoted].join('\n');
    }),
    ...(action === undefined ? [] : [`${action.text}:\n${checkedUrl(action.url)}`]),
    ...after,
    // A line of two hyphens and a space begins what mail programs show as a signature.
    ['-- ', ...footer.map((line) => (typeof line === 'string' ? line : `${line.text}: ${checkedUrl(line.url)}`))].join(
      '\n',
    ),
  ];
  return `${blocks.join('\n\n')}\n`;
}

const style = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 16px; background: #f6f6f4; color: #1f2328; font: 16px/1.5 -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 600px; margin: 0 auto; padding: 24px; background: #ffffff; border: 1px solid #d8d8d4; border-radius: 8px; overflow-wrap: anywhere; }
h1 { margin: 0 0 16px; font-size: 20px; line-height: 1.3; }
p { margin: 0 0 16px; }
blockquote { margin: 0 0 16px; padding: 0 0 0 12px; border-left: 3px solid #d8d8d4; white-space: pre-wrap; }
.rendered { white-space: normal; }
.rendered pre { overflow-x: auto; padding: 8px 12px; background: #f6f6f4; border-radius: 6px; font-size: 14px; }
table { margin: 0 0 16px; border-collapse: collapse; }
th { padding: 2px 16px 2px 0; text-align: left; vertical-align: top; font-weight: normal; color: #59636e; white-space: nowrap; }
td { padding: 2px 0; }
a { color: #0b57a4; }
.action { display: inline-block; padding: 10px 18px; background: #0b57a4; color: #ffffff; border-radius: 6px; font-weight: 600; text-decoration: none; }
.url { font-size: 13px; color: #59636e; }
footer { max-width: 600px; margin: 0 auto; padding: 16px 24px 0; font-size: 13px; color: #59636e; }
footer p { margin: 0 0 4px; }
@media (prefers-color-scheme: dark) {
  body { background: #15181c; color: #e6e6e3; }
  main { background: #1d2126; border-color: #3a4048; }
  blockquote { border-left-color: #3a4048; }
  .rendered pre { background: #15181c; }
  th, .url, footer { color: #a3abb5; }
  a { color: #7ab8ff; }
  .action { background: #2f6fb5; color: #ffffff; }
}`;

function asHtml({ title, parts, action, after = [], footer }: MailContent): string {
  const body = [
    `<h1>${escape(title)}</h1>`,
    ...parts.map((part) => {
      if (typeof part === 'string') return paragraph(cut(part));
      if ('facts' in part) {
        const facts = part.facts.map(
          ([name, value]) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`,
        );
        return `<table>${facts.join('')}</table>`;
      }
      if ('link' in part) {
        const note = part.note === undefined ? '' : `<br><span class="url">${escape(part.note)}</span>`;
        return `<p>${anchor(part.link)}${note}</p>`;
      }
      const by = part.by === undefined ? '' : `${paragraph(`${part.by}:`)}\n`;
      if ('html' in part) return `${by}<blockquote class="rendered">${part.html}</blockquote>`;
      return `${by}<blockquote>${escape(cut(part.quote))}</blockquote>`;
    }),
    ...(action === undefined ? [] : [button(action)]),
    ...after.map(paragraph),
  ];
  const below = footer.map((line) => (typeof line === 'string' ? paragraph(line) : `<p>${anchor(line)}</p>`));
  return `<!DOCTYPE html>
<html lang="${currentLanguage()}" dir="${findLanguage(currentLanguage())?.dir ?? 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escape(title)}</title>
<style>${style}
</style>
</head>
<body>
<main>
${body.join('\n')}
</main>
<footer>
${below.join('\n')}
</footer>
</body>
</html>
`;
}

const paragraph = (text: string): string => `<p>${escape(text).replace(/\n/g, '<br>')}</p>`;

const anchor = ({ text, url }: MailLink): string => `<a href="${escape(checkedUrl(url))}">${escape(text)}</a>`;

/** The URL is also shown below the button, so that readers see the target before following it. */
function button(link: MailLink): string {
  const url = escape(checkedUrl(link.url));
  return `<p><a class="action" href="${url}">${escape(link.text)}</a></p>\n<p class="url">${url}</p>`;
}

/** This program creates the links; any other scheme is a bug in it. */
function checkedUrl(url: string): string {
  if (!/^https?:\/\/[^\s<>"]+$/.test(url)) throw new Error('a link of a mail is no http or https URL');
  return url;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escape = (text: string): string =>
  text.replace(/[\p{Bidi_Control}]/gu, '').replace(/[&<>"']/g, (character) => entities[character]!);
