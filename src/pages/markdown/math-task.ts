import sanitizeHtml from 'sanitize-html';
import type { Attributes, IOptions, Tag } from 'sanitize-html';
import temml from 'temml';
import type { Formula } from './rendered-markdown.ts';

/** Limits of one document; formulas beyond them are shown as source. */
const maxFormulas = 300;
const maxLength = 32 * 1024;
/** Maximum number of macro expansions in a formula; ten times the need of a long one. */
const maxExpand = 500;

/**
 * Task of the worker pool: renders formulas as MathML (MathML Core, W3C), without inline style, links, ids and fonts;
 * null for formulas that are invalid or beyond a limit. Macros of one formula are not visible to the others.
 */
export function run({ formulas }: { formulas: readonly Formula[] }): (string | null)[] {
  let length = 0;
  return formulas.map(({ tex, isDisplay }, index) => {
    length += tex.length;
    if (index >= maxFormulas || length > maxLength) return null;
    try {
      return cleanMathMl(
        temml.renderToString(tex, {
          displayMode: isDisplay,
          throwOnError: true,
          strict: false,
          trust: false,
          maxSize: [20, 20],
          maxExpand,
        }),
      );
    } catch {
      return null;
    }
  });
}

/** Elements of MathML Core; `maction`, `semantics`, `annotation-xml` and all elements outside MathML are dropped. */
const allowedTags = [
  'math',
  'mrow',
  'mi',
  'mn',
  'mo',
  'ms',
  'mtext',
  'mspace',
  'mfrac',
  'msqrt',
  'mroot',
  'mstyle',
  'mpadded',
  'mphantom',
  'msub',
  'msup',
  'msubsup',
  'munder',
  'mover',
  'munderover',
  'mmultiscripts',
  'mprescripts',
  'mtable',
  'mtr',
  'mtd',
  'menclose',
];

const everywhere = ['mathvariant', 'displaystyle', 'scriptlevel', 'mathcolor', 'dir'];
const ofOperators = ['form', 'fence', 'separator', 'stretchy', 'symmetric', 'largeop', 'movablelimits', 'accent'];
const ofSpace = ['lspace', 'rspace', 'minsize', 'maxsize', 'width', 'height', 'depth', 'voffset'];

const options: IOptions = {
  allowedTags,
  allowedAttributes: {
    '*': everywhere,
    math: ['display', 'alttext'],
    mo: [...ofOperators, ...ofSpace],
    mspace: ofSpace,
    mpadded: ofSpace,
    mfrac: ['linethickness'],
    mtd: ['columnspan', 'rowspan'],
    mtable: ['columnalign'],
    menclose: ['notation'],
    mover: ['accent'],
    munder: ['accentunder'],
    munderover: ['accent', 'accentunder'],
  },
  allowedClasses: { mtd: ['tml-left', 'tml-right', 'tml-center'], mtable: ['tml-jot'] },
  allowedSchemes: [],
  transformTags: { '*': withColour },
};

/** The renderer writes colours as inline style, which our pages do not allow; MathML has an attribute for them. */
function withColour(tagName: string, { style = '', ...attribs }: Attributes): Tag {
  const colour = /(?:^|;)color:(#[0-9a-f]{3,8}|[a-z]{3,20})(?:;|$)/i.exec(style)?.[1];
  return { tagName, attribs: colour === undefined ? attribs : { ...attribs, mathcolor: colour } };
}

/** Drops everything outside the allowlist. */
export const cleanMathMl = (mathMl: string): string => sanitizeHtml(mathMl, options);
