/** A label for display. */
export interface LabelView {
  name: string;
  /** Colour of the dot: `#d73a4a`. */
  colour: string;
  description: string;
}

/**
 * @param label in its current state, or as recorded in the log
 */
export const viewLabel = (label: { name: string; colour: string; description?: string }): LabelView => ({
  name: label.name,
  colour: /^[0-9a-f]{6}$/i.test(label.colour) ? `#${label.colour}` : '#808080',
  description: label.description ?? '',
});
