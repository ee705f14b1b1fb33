/** `Content-Disposition` of a download: a plain name for old clients, the full name for others (RFC 6266). */
export function attachmentDisposition(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._ -]+/g, '-');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
