/** Colours by speed, price or name. Names of colours are those of the theme. */

/** Colour of a channel's response time: up to 1 s, 3 s, 5 s, more; 0 means untested. */
export function responseTimeColor(milliseconds: number): string {
  if (milliseconds === 0) return 'gray'
  if (milliseconds <= 1000) return 'green'
  if (milliseconds <= 3000) return 'lime'
  if (milliseconds <= 5000) return 'yellow'
  return 'red'
}

/** Colour of the total duration of a call. */
export function durationColor(seconds: number): string {
  if (seconds < 101) return 'green'
  return seconds < 300 ? 'orange' : 'red'
}

/** Colour of the time to the first token. */
export function firstTokenColor(milliseconds: number): string {
  if (milliseconds < 3000) return 'green'
  return milliseconds < 10_000 ? 'orange' : 'red'
}

/** Colour of a price ratio. */
export function ratioColor(ratio: number): string {
  if (ratio > 5) return 'red'
  if (ratio > 3) return 'orange'
  return ratio > 1 ? 'blue' : 'green'
}

const palette = [
  'yellow',
  'blue',
  'cyan',
  'green',
  'gray',
  'indigo',
  'sluice',
  'lime',
  'orange',
  'pink',
  'grape',
  'red',
  'teal',
  'violet',
]

/** The colour of a name or number, which is always the same. */
export function colorOf(name: string | number): string {
  const text = String(name)
  const sum = typeof name === 'number' ? name : [...text].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return palette[Math.abs(sum) % palette.length] ?? 'gray'
}

/** Groups that rank above the others by their names, in the colours that users know them by. */
const groupColors: ReadonlyMap<string, string> = new Map([
  ['vip', 'yellow'],
  ['pro', 'yellow'],
  ['svip', 'red'],
  ['premium', 'red'],
])

export function groupColor(group: string): string {
  return groupColors.get(group) ?? colorOf(group)
}
