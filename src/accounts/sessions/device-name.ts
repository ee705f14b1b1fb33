const browsers: readonly [mark: RegExp, name: string][] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bFirefox\//, 'Firefox'],
  [/\bChrome\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const systems: readonly [mark: RegExp, name: string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows NT\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
  [/\b(?:Free|Open|Net)BSD\b/, 'BSD'],
];

const nameIn = (list: readonly [RegExp, string][], text: string): string | undefined =>
  list.find(([mark]) => mark.test(text))?.[1];

/**
 * `Firefox on Linux`, so that users recognise their devices in a list. User agents are a guess at best; unknown ones
 * are shown by their first word.
 */
export function deviceName(userAgent: string): string {
  const browser = nameIn(browsers, userAgent);
  const system = nameIn(systems, userAgent);
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? (/^[\w.-]{1,40}/.exec(userAgent)?.[0] || 'Unknown device');
}
