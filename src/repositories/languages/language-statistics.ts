import type { ListedFile } from '../../git/index.ts';
import { isUsuallyGenerated, languageCalled, languageOf } from '../../highlighting/index.ts';
import type { LinguistAttributes } from '../../highlighting/index.ts';

/** Folders of third-party and generated files. */
const foreign = /(?:^|\/)(?:vendor|node_modules|third[_-]party|deps|dist|build)\//;

interface LanguageSum {
  name: string;
  /** Colour of a bar or a dot. */
  colour: string;
  bytes: number;
}

export type AttributesOf = (path: string) => LinguistAttributes;

const known = new WeakMap<readonly ListedFile[], { attributesOf: AttributesOf | null; sums: readonly LanguageSum[] }>();

/**
 * Languages of files by bytes, in descending order: programming languages, or any others if there are none. Omits
 * generated, vendored and documentation files, as marked by attributes, else by name. A cached list, such as that of a
 * commit, is walked once.
 */
export function sumLanguages(
  files: readonly ListedFile[],
  attributesOf: AttributesOf | null = null,
): readonly LanguageSum[] {
  const kept = known.get(files);
  if (kept !== undefined && kept.attributesOf === attributesOf) return kept.sums;
  const sums = walk(files, attributesOf);
  known.set(files, { attributesOf, sums });
  return sums;
}

function walk(files: readonly ListedFile[], attributesOf: AttributesOf | null): LanguageSum[] {
  const sums = { programming: new Map<string, LanguageSum>(), all: new Map<string, LanguageSum>() };
  for (const { path, size } of files) {
    if (size === 0) continue;
    const text = path.toString('latin1');
    const attributes = attributesOf?.(path.toString()) ?? null;
    const isLeftOut =
      (attributes?.isVendored ?? foreign.test(text)) ||
      (attributes?.isGenerated ?? isUsuallyGenerated(text)) ||
      attributes?.isDocumentation === true;
    if (isLeftOut) continue;
    const language =
      (attributes?.language == null ? null : languageCalled(attributes.language.replaceAll('-', ' '))) ??
      languageOf(text);
    if (language === null) continue;
    for (const sum of language.isProgramming ? [sums.programming, sums.all] : [sums.all]) {
      const known = sum.get(language.name);
      if (known) known.bytes += size;
      else sum.set(language.name, { name: language.name, colour: language.colour, bytes: size });
    }
  }
  return [...(sums.programming.size > 0 ? sums.programming : sums.all).values()].sort((a, b) => b.bytes - a.bytes);
}

/** Minimum share of a listed language, and maximum number of listed languages. */
const leastShare = 0.05;
const most = 3;

/** Languages by which lists filter a repository. */
export function mainLanguages(files: readonly ListedFile[], attributesOf: AttributesOf | null = null): string[] {
  const sums = sumLanguages(files, attributesOf);
  const total = sums.reduce((sum, { bytes }) => sum + bytes, 0);
  return sums
    .slice(0, most)
    .filter(({ bytes }) => bytes >= total * leastShare)
    .map(({ name }) => name);
}
