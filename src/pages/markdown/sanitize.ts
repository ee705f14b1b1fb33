import { nameToEmoji } from 'gemoji';
import sanitizeHtml from 'sanitize-html';
import type { Attributes, IOptions, Tag } from 'sanitize-html';
import type { DocumentLinks } from './document-links.ts';
import { replaceShortCodes } from './emoji.ts';
import { anchorHtmlHeadings, anchorPrefix } from './heading-anchors.ts';
import { placeholder, splitAtPlaceholders } from './placeholders.ts';

const allowedTags = [
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'p',
  'br',
  'hr',
  'a',
  'span',
  'strong',
  'em',
  'b',
  'i',
  'del',
  's',
  'ins',
  'mark',
  'sub',
  'sup',
  'kbd',
  'samp',
  'var',
  'abbr',
  'q',
  'cite',
  'code',
  'pre',
  'blockquote',
  'div',
  'ul',
  'ol',
  'li',
  'dl',
  'dt',
  'dd',
  'table',
  'caption',
  'thead',
  'tbody',
  'tfoot',
  'tr',
  'th',
  'td',
  'details',
  'summary',
  'input',
  'img',
  'picture',
  'source',
];

const allowedAttributes: IOptions['allowedAttributes'] = {
  '*': ['title', 'class', 'id'],
  a: ['href', 'rel', 'class', 'id'],
  blockquote: ['class'],
  span: ['class'],
  abbr: ['title'],
  code: ['class'],
  details: ['open'],
  h2: ['id'],
  h3: ['id'],
  h4: ['id'],
  h5: ['id'],
  h6: ['id'],
  img: ['src', 'alt', 'width', 'height', 'loading'],
  source: ['media', 'srcset', 'type'],
  input: ['type', 'checked', 'disabled', 'aria-label'],
  pre: ['tabindex'],
  div: ['class', 'tabindex'],
  li: ['class', 'id'],
  ol: ['start'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan', 'scope'],
};

const remote = /^(?:https?:)?\/\//i;
const hasScheme = /^[a-z][a-z0-9+.-]*:/i;

const plain = (text?: string): Tag => ({ tagName: 'span', attribs: {}, ...(text === undefined ? {} : { text }) });

function link(attributes: Attributes, links: DocumentLinks): Tag {
  const href = (attributes.href ?? '').trim();
  if (href === '') return { tagName: 'span', attribs: ownId(attributes) };
  if (href.startsWith('#'))
    return { tagName: 'a', attribs: { href: `#${anchorPrefix}${href.slice(1)}`, ...ownId(attributes) } };
  if (remote.test(href) || hasScheme.test(href)) {
    // Other sites get neither our endorsement nor access to our window.
    return { tagName: 'a', attribs: { href, rel: 'nofollow ugc noopener', ...ownId(attributes) } };
  }
  const inside = links.page(href);
  return inside === null ? plain() : { tagName: 'a', attribs: { href: inside, ...ownId(attributes) } };
}

/** `120`, `120px` or a percentage of the column; other values are dropped. */
const side = (length = ''): string => /^\s*(\d{1,4}%?)(?:px)?\s*$/.exec(length)?.[1]?.replace(/^0+(?=\d)/, '') ?? '';

/** The host that serves an image; the URL may be malformed. */
const hostOf = (address: string): string => URL.parse(address, 'https://invalid.invalid')?.host ?? 'elsewhere';

/** The URL that a remote image is loaded from; null where it is not shown. */
function shownFrom(src: string, { showsRemoteImages, remote: remoteLink }: DocumentLinks): string | null {
  if (!showsRemoteImages) return null;
  if (remoteLink !== undefined) return remoteLink(src.startsWith('//') ? `https:${src}` : src);
  // Over http, attackers on the network could change it, and browsers would warn about mixed content.
  return /^https:\/\//i.test(src) ? src : null;
}

/** Precedes the text that replaces an image; it may be inside a link, so it cannot contain one. */
const labelMark = '\0\0';

/** Maximum number of remote images in a document; further ones are links. */
const maxRemoteImages = 200;

/**
 * A browser that loads a remote image tells its host who reads this page, so unless the settings allow images through
 * the proxy, the image becomes a link that names the host. Inside a link, the usual place of a badge, only its text
 * remains: links cannot be nested.
 */
function image(attributes: Attributes, links: DocumentLinks, isInLink: boolean): Tag {
  const { src = '', alt = '', width, height } = attributes;
  const label = labelMark + (alt.trim() || 'image');
  const size: Attributes = Object.fromEntries(
    Object.entries({ width: side(width), height: side(height) }).filter(([, length]) => length !== ''),
  );
  if (remote.test(src)) {
    const from = shownFrom(src, links);
    if (from !== null) return { tagName: 'img', attribs: { src: from, alt, loading: 'lazy', ...size } };
    if (isInLink) return { tagName: 'span', attribs: { class: 'image-label' }, text: label };
    return {
      tagName: 'a',
      attribs: { href: src, rel: 'nofollow ugc noopener', class: 'image-label' },
      text: `${label} (${hostOf(src)})`,
    };
  }
  const inside = src === '' || hasScheme.test(src) ? null : links.image(src);
  if (inside === null) return { tagName: 'span', attribs: { class: 'image-label' }, text: label };
  return { tagName: 'img', attribs: { src: inside, alt, loading: 'lazy', ...size } };
}

/** Allowed media queries of an image source: one plain feature, as for the dark theme. */
const mediaQuery = /^\(\s*(?:prefers-color-scheme|prefers-reduced-motion|(?:min|max)-width)\s*:\s*[\w.-]{1,30}\s*\)$/;

/** The first image of a source, if it would be shown as an image; other sources are dropped. */
function pictureSource({ srcset = '', media, type }: Attributes, links: DocumentLinks): Tag {
  const [src = ''] = srcset.trim().split(/[\s,]+/, 1);
  const shown = remote.test(src) ? shownFrom(src, links) : src === '' || hasScheme.test(src) ? null : links.image(src);
  if (shown === null || (media !== undefined && !mediaQuery.test(media.trim())))
    return { tagName: 'source', attribs: {} };
  return {
    tagName: 'source',
    attribs: {
      ...(media === undefined ? {} : { media: media.trim() }),
      ...(type === undefined || !/^image\/[\w.+-]{1,30}$/.test(type) ? {} : { type }),
      // A comma would start another image.
      srcset: shown.replaceAll(',', '%2C'),
    },
  };
}

/** Ids and anchor names of documents get a prefix, so that they never equal an id of the page. */
function ownId({ id, name }: Attributes): Attributes {
  const place = (id ?? name ?? '').trim();
  if (place === '' || /\s/.test(place) || place.length > 200) return {};
  return { id: place.startsWith(anchorPrefix) ? place : anchorPrefix + place };
}

/**
 * The renderer writes a column's alignment as an inline style, which our pages do not allow, and authors use an
 * obsolete attribute. Both become a class of ours.
 */
const aligned = (tagName: string, { style, align, ...attribs }: Attributes): Tag => {
  const [side] = /(?:left|center|right)$/i.exec(/^text-align:\w+$/.test(style ?? '') ? style! : (align ?? '')) ?? [];
  return {
    tagName,
    attribs:
      side === undefined
        ? attribs
        : { ...attribs, class: [attribs.class, `align-${side.toLowerCase()}`].filter(Boolean).join(' ') },
  };
};

/** The page itself has the only h1, so the headings of a document move down by one. */
const demoted =
  (level: number) =>
  (_name: string, attribs: Attributes): Tag => ({
    ...aligned(`h${Math.min(level + 1, 6)}`, {
      ...ownId(attribs),
      ...(attribs.align === undefined ? {} : { align: attribs.align }),
    }),
  });

/** It cannot be clicked, but screen readers announce its state. */
function checkbox({ type, checked }: Attributes): Tag {
  const isChecked = checked !== undefined;
  const attribs = {
    type: type ?? '',
    disabled: '',
    'aria-label': isChecked ? 'done' : 'to do',
    ...(isChecked ? { checked: '' } : {}),
  };
  return { tagName: 'input', attribs };
}

/** Possible references: `#7`, `@alice`, a commit id. The page checks whether they exist. */
const mayRefer = /#\d|@[A-Za-z0-9]|[0-9a-f]{7}/;

/** Text outside of code: short codes become emoji, and outside of links possible references become placeholders. */
function proseText(text: string, isInLink: boolean): string {
  if (text.startsWith(labelMark)) return text.slice(labelMark.length);
  return splitAtPlaceholders(text)
    .map((segment, index) => {
      if (index % 2 === 1) return isInLink ? segment.replace(/^\0t/, '\0l') : segment;
      const prose = replaceShortCodes(segment, nameToEmoji);
      return !isInLink && mayRefer.test(prose) ? placeholder('text', prose) : prose;
    })
    .join('');
}

const codeTags = new Set(['code', 'pre', 'samp', 'kbd']);

/** Drops everything outside the allowlist: no style, form, frame, script or foreign id (security C02). */
export function sanitize(html: string, links: DocumentLinks): string {
  let linkDepth = 0;
  let codeDepth = 0;
  let remoteImages = 0;
  const shown = (): DocumentLinks => {
    remoteImages += 1;
    return remoteImages > maxRemoteImages ? { ...links, showsRemoteImages: false } : links;
  };
  const clean = sanitizeHtml(html, {
    allowedTags,
    allowedAttributes,
    selfClosing: ['img', 'br', 'hr', 'input', 'source'],
    allowedClasses: {
      '*': ['align-left', 'align-center', 'align-right'],
      div: ['scroll'],
      code: ['language-*'],
      li: ['task'],
      blockquote: ['alert-*'],
      a: ['image-label'],
      span: ['image-label'],
    },
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: true,
    onOpenTag: (name) => {
      if (name === 'a') linkDepth += 1;
      if (codeTags.has(name)) codeDepth += 1;
    },
    onCloseTag: (name) => {
      if (name === 'a') linkDepth -= 1;
      if (codeTags.has(name)) codeDepth -= 1;
    },
    textFilter: (text) => (codeDepth > 0 ? text.replace(labelMark, '') : proseText(text, linkDepth > 0)),
    exclusiveFilter: ({ tag, attribs }) =>
      (tag === 'input' && attribs.type !== 'checkbox') || (tag === 'source' && attribs.srcset === undefined),
    transformTags: {
      h1: demoted(1),
      h2: demoted(2),
      h3: demoted(3),
      h4: demoted(4),
      h5: demoted(5),
      h6: demoted(6),
      p: aligned,
      td: aligned,
      th: aligned,
      a: (_name, attributes) => link(attributes, links),
      img: (_name, attributes) => image(attributes, remote.test(attributes.src ?? '') ? shown() : links, linkDepth > 0),
      source: (_name, attributes) =>
        pictureSource(attributes, remote.test((attributes.srcset ?? '').trim()) ? shown() : links),
      input: (_name, attributes) => checkbox(attributes),
      li: (_name, { class: kind, id = '' }) => ({
        tagName: 'li',
        attribs: { ...(kind === undefined ? {} : { class: kind }), ...ownId({ id }) },
      }),
      // Content that scrolls sideways must be reachable by keyboard.
      pre: () => ({ tagName: 'pre', attribs: { tabindex: '0' } }),
      // After the rules of single tags: every remaining id gets the prefix.
      '*': (tagName, { id, ...attribs }) => ({ tagName, attribs: { ...attribs, ...ownId({ id: id ?? '' }) } }),
      div: (name, attribs) =>
        attribs.class === 'scroll'
          ? { tagName: name, attribs: { class: 'scroll', tabindex: '0' } }
          : aligned(name, attribs),
    },
  });
  return anchorHtmlHeadings(clean);
}
