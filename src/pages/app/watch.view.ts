import { watchLevels } from '../../notifications/index.ts';
import type { Watching, WatchLevel } from '../../notifications/index.ts';

/** What each level of watching is called, on the button and in the menu. */
export const watchWords: Readonly<Record<WatchLevel, { button: string; title: string; hint: string }>> = {
  everything: { button: 'Watching', title: 'Everything', hint: 'All that happens here.' },
  participating: {
    button: 'Watch',
    title: 'Participating and mentions',
    hint: 'What you take part in, and what names you.',
  },
  releases: { button: 'Releases', title: 'Releases', hint: 'The same, and new releases.' },
  ignore: { button: 'Ignoring', title: 'Ignore', hint: 'Nothing, not even mentions.' },
};

/** The watch button in the header of a repository page. */
export interface WatchView {
  button: string;
  /** How many people watch everything. */
  watching: number;
  choices: { value: WatchLevel; title: string; hint: string; isChosen: boolean }[];
}

export const viewWatch = ({ level, watching }: Watching): WatchView => ({
  button: watchWords[level].button,
  watching,
  choices: watchLevels.map((value) => {
    const { title, hint } = watchWords[value];
    return { value, title, hint, isChosen: value === level };
  }),
});
