/** `Content-Disposition` with an ASCII fallback in `filename` and the name in UTF-8 in `filename*` (RFC 6266). */
export function formatContentDisposition(kind: 'inline' | 'attachment', name: Buffer): string {
  const text = name.toString();
  const ascii = text.replace(/[^\w.+ -]/g, '_');
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(text).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`)}`;
}
