import { watchLevels } from '../../notifications/index.ts';
import type { Watching, WatchLevel } from '../../notifications/index.ts';
import { translated } from '../../translation/index.ts';

/** The label of each watch level, on the button and in the menu. */
export const watchWords: Readonly<Record<WatchLevel, { button: string; title: string; hint: string }>> = translated({
  everything: { button: 'app.watch.watching', title: 'app.watch.everything', hint: 'app.watch.all_activity_here' },
  participating: {
    button: 'app.watch.watch',
    title: 'app.watch.participating_and_mentions',
    hint: 'app.watch.conversations_you_participate_in_and_mentions',
  },
  releases: { button: 'app.watch.releases', title: 'app.watch.releases', hint: 'app.watch.the_same_and_new_releases' },
  ignore: { button: 'app.watch.ignoring', title: 'app.watch.ignore', hint: 'app.watch.nothing_not_even_mentions' },
});

/** The watch button in the header of a repository page. */
export interface WatchView {
  button: string;
  /** Number of users who watch all activity. */
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
