/** Output in which a runner reports the URL of an environment; hidden from users. */
export const environmentUrlOutput = 'HEARTH_ENVIRONMENT_URL';

const maxUrlLength = 2_000;

/** Parses a URL that a page may link to; null for anything else. */
export function readEnvironmentUrl(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '' || trimmed.length > maxUrlLength || !URL.canParse(trimmed)) return null;
  const { protocol, username, password } = new URL(trimmed);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' ? trimmed : null;
}
