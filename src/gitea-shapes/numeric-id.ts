/** Receivers parse ids as integers; the beginning of a UUID fits in every language. */
export const numericId = (uuid: string): number => Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16) || 0;
