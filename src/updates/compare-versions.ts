/** MAJOR.MINOR.PATCH, with a pre-release such as `-rc.1` behind. */
export const isVersion = (text: string): boolean =>
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:alpha|beta|rc)\.[1-9]\d*)?$/.test(text);

/** By semantic versioning, for the versions that are released here. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map(parts) as [Parts, Parts];
  for (const index of [0, 1, 2])
    if (a.numbers[index] !== b.numbers[index]) return a.numbers[index]! > b.numbers[index]!;
  if (a.pre === null || b.pre === null) return a.pre === null && b.pre !== null;
  return a.pre[0] === b.pre[0] ? a.pre[1] > b.pre[1] : a.pre[0] > b.pre[0];
}

interface Parts {
  numbers: number[];
  pre: [name: string, count: number] | null;
}

function parts(version: string): Parts {
  const [release = '', pre] = version.split('-');
  const [name = '', count = '0'] = pre?.split('.') ?? [];
  return { numbers: release.split('.').map(Number), pre: pre === undefined ? null : [name, Number(count)] };
}
