const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes the five named and all numeric character references in the text of a value. */
const unescape = (text: string): string =>
  text.replace(/&(#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|[a-z]{2,4});/g, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name] ?? whole;
    const point = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return point <= 0x10_ff_ff ? String.fromCodePoint(point) : whole;
  });

/** The contents of all elements of a name, in linear time. */
export function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(open); at !== -1; ) {
    const end = xml.indexOf(close, at);
    if (end === -1) break;
    found.push(xml.slice(at + open.length, end));
    at = xml.indexOf(open, end);
  }
  return found;
}

/** The text of the first element of a name; null if there is none. */
export function element(xml: string, name: string): string | null {
  const [first] = elements(xml, name);
  return first === undefined ? null : unescape(first);
}

/** Escapes the text of a value for XML. */
export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
