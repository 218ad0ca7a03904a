/**
 * The conversation of every agent in these tests, with any protocol and any upstream: a question with an image; two parallel calls;
 * one more call after the first result; the answer in JSON. The simulated vendors play the model's part and check the agent's.
 */
export const scenario = {
  instruction: 'You are the harbor master of Rye. Look things up before you answer.',
  question: 'Is it safe to sail from the port in the picture? Über die Flut: 潮汐 🌊',
  /** A PNG of eight by eight pixels. */
  image: 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAD0lEQVR4nGNIwwEYhpYEAOR7TIE437i0AAAAAElFTkSuQmCC',
  tools: [
    {
      name: 'get_tide',
      description: 'The tide of a port on a day from today.',
      schema: {
        type: 'object',
        properties: { port: { type: 'string', description: 'Name of the port' }, day: { type: 'integer' } },
        required: ['port', 'day'],
        additionalProperties: false,
      },
    },
    {
      name: 'get_wind',
      description: 'The wind at a port.',
      schema: {
        type: 'object',
        properties: { port: { type: 'string', description: 'Name of the port' } },
        required: ['port'],
        additionalProperties: false,
      },
    },
  ],
  answerName: 'verdict',
  answerSchema: {
    type: 'object',
    properties: {
      port: { type: 'string' },
      metres: { type: 'number', description: 'Height of the tide' },
      safe: { type: 'boolean' },
      note: { type: 'string' },
    },
    required: ['port', 'metres', 'safe', 'note'],
    additionalProperties: false,
  },
  answer: { port: 'Rye', metres: 4.25, safe: true, note: 'Ebbe – 明日' },
} as const

export interface Step {
  readonly thought: string
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[]
  readonly usage: StepUsage
}

/** `cached` is a part of `input`, `reasoning` one of `output`. */
interface StepUsage {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

/** The output of the model in each turn. */
export const steps: readonly Step[] = [
  {
    thought: 'Tide and wind are asked. Both "now". 🧭',
    text: '',
    calls: [
      { name: 'get_tide', input: { port: 'Rye', day: 0 } },
      { name: 'get_wind', input: { port: 'Rye' } },
    ],
    usage: { input: 1200, cached: 1000, output: 90, reasoning: 50 },
  },
  {
    thought: 'The tide turns soon; tomorrow counts too.',
    // A model with an answer schema uses it even before a call.
    text: JSON.stringify({ port: 'Rye', metres: 3.5, safe: false, note: 'tomorrow – 明日 🌊 – may be better' }),
    calls: [{ name: 'get_tide', input: { port: 'Rye', day: 1 } }],
    usage: { input: 1400, cached: 1200, output: 60, reasoning: 20 },
  },
  {
    thought: 'Calm enough.',
    text: JSON.stringify(scenario.answer),
    calls: [],
    usage: { input: 1500, cached: 1400, output: 40, reasoning: 10 },
  },
]

/** The total usage of the three turns. */
export const usageOfAll: StepUsage = steps.reduce(
  (sum, { usage }) => ({
    input: sum.input + usage.input,
    cached: sum.cached + usage.cached,
    output: sum.output + usage.output,
    reasoning: sum.reasoning + usage.reasoning,
  }),
  { input: 0, cached: 0, output: 0, reasoning: 0 },
)

/** All calls in the order in which an agent should have made them. */
export const callsOfAll = steps.flatMap(({ calls }) => calls)

/** The result of a tool: a text for the wind, JSON with hard-to-encode characters for the tide. */
export function resultOf(name: string, input: Readonly<Record<string, unknown>>): string {
  if (name === 'get_wind') return 'west 3 Bft,\n"gusts" to 5 – Böen 🌬️'
  return JSON.stringify({ day: input.day, metres: input.day === 0 ? 3.5 : 4.25, note: 'über "Null"' })
}

/** A text in pieces, cut between any two characters. */
export function piecesOf(text: string, size = 7): string[] {
  const characters = [...text]
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, at) =>
    characters.slice(at * size, (at + 1) * size).join(''),
  )
}
