import { type Expectation, qualityDefaults } from '../../../contract/entities/quality-check.ts'
import type { Text } from '../../../contract/text.ts'

/** Checks to begin with, each of which finds something that goes wrong silently. */
export interface Preset {
  readonly id: string
  readonly label: Text
  readonly system: string
  readonly prompt: string
  readonly tools: string
  readonly expectations: readonly Expectation[]
  readonly max_output_tokens: number
}

const { max_output_tokens } = qualityDefaults

export const presets: readonly [Preset, ...Preset[]] = [
  {
    id: 'arithmetic',
    label: { zh: '算术', en: 'Arithmetic' },
    system: 'Answer with the number alone.',
    prompt: 'What is 17 * 23?',
    tools: '',
    expectations: [{ kind: 'exact', value: '391', ignore_case: false }],
    max_output_tokens,
  },
  {
    id: 'json',
    label: { zh: 'JSON 输出', en: 'JSON object' },
    system: 'Answer with one JSON object and nothing else.',
    prompt: 'Give the name, country and population of Paris as {"name": string, "country": string, "population": number}.',
    tools: '',
    expectations: [
      { kind: 'json', members: ['name', 'country', 'population'] },
      { kind: 'contains', value: 'France', ignore_case: true },
    ],
    max_output_tokens,
  },
  {
    id: 'tool',
    label: { zh: '工具调用', en: 'Tool call' },
    system: '',
    prompt: 'What is the weather in Paris now? Use the tool.',
    tools: JSON.stringify(
      [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Get the weather of a city now',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
        },
      ],
      null,
      2,
    ),
    expectations: [{ kind: 'tool', name: 'get_weather', arguments: '{"city": "Paris"}' }],
    max_output_tokens,
  },
  {
    id: 'needle',
    label: { zh: '长上下文', en: 'Long context' },
    system: 'Answer from the list alone, with the code and nothing else.',
    prompt: needle(),
    tools: '',
    expectations: [{ kind: 'contains', value: 'KITE-7294', ignore_case: true }],
    max_output_tokens,
  },
]

/** A list with the wanted line near its middle: about 6,000 tokens. */
function needle(): string {
  const places = ['harbour', 'mill', 'station', 'garden', 'library', 'bridge', 'market', 'tower']
  const codes = ['OAK', 'FERN', 'PINE', 'REED', 'MOSS', 'SAGE', 'IVY']
  const lines = Array.from({ length: 400 }, (_, at) => {
    const place = `${places[at % places.length]} ${Math.floor(at / places.length) + 1}`
    if (at === 190) return 'The code of the lighthouse is KITE-7294.'
    return `The code of the ${place} is ${codes[at % codes.length]}-${1000 + ((at * 7919) % 9000)}.`
  })
  return `${lines.join('\n')}\n\nWhat is the code of the lighthouse?`
}
