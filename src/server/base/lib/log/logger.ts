import { type DestinationStream, pino } from 'pino'
import { logOutput } from './log-output.ts'

export type Logger = ReturnType<typeof newLogger>

const secretShapes = [
  [/\bsk-[A-Za-z0-9_-]{16,}/g, 'sk-…'],
  [/\bBearer\s+[\w.~+/=-]{8,}/gi, 'Bearer …'],
  [/([?&](?:key|token|access_token|code|password|secret)=)[^&\s"]+/gi, '$1…'],
  [/\bv1\.[0-9a-f]{12}\.[\w-]+\.[\w-]+\.[\w-]+/g, '(sealed)'],
] as const

/** Removes everything that looks like a secret from a text. A second line of defence: the first is never to log secrets. */
export function redact(text: string): string {
  return secretShapes.reduce((safe, [shape, shown]) => safe.replace(shape, shown), text)
}

/**
 * The same JSON without characters that line readers or terminals interpret: DEL and the C1 controls, of which U+0085 is a line
 * break, and the line and paragraph separators. In JSON they only occur in strings, where an escape means the same.
 */
export function escapeSeparators(json: string): string {
  return json.replace(separators, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const separators = /[\u007f-\u009f\u2028\u2029]/g

/**
 * One JSON line per event on standard output. Fields with secret names are removed, and every line passes `redact` and
 * `escapeSeparators`.
 */
export function newLogger(level: string, destination?: DestinationStream) {
  const target = destination ?? logOutput()
  const safe: DestinationStream = { write: (line) => target.write(escapeSeparators(redact(line))) }
  return pino(
    {
      level,
      base: null,
      redact: {
        paths: [
          'password',
          'key',
          'token',
          'secret',
          'authorization',
          'cookie',
          '*.password',
          '*.key',
          '*.token',
          '*.secret',
          '*.authorization',
          '*.cookie',
        ],
        remove: true,
      },
      serializers: { error: pino.stdSerializers.err },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    safe,
  )
}

/** Lets a promise run on its own and logs its failure, so that no error is lost. */
export function background(logger: Logger, what: string, promise: Promise<unknown>): void {
  promise.catch((error: unknown) => logger.error({ error, what }, 'background work failed'))
}
