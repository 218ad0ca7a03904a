// The faults of the simulated provider. A program is plain data; it is given by the test, or by the end of the model's name:
// `gpt-4o-mini--words-50--cut-10` replies with 50 words and cuts the connection after 10 events.

const ofName = {
  status: (n) => ({ status: n }),
  delay: (n) => ({ delayMs: n }),
  words: (n) => ({ words: n }),
  stall: (n) => ({ stallAfterEvents: n }),
  cut: (n) => ({ cutAfterEvents: n }),
  error: (n) => ({ errorAfterEvents: n }),
  piece: (n) => ({ pieceBytes: n }),
  pause: (n) => ({ pauseMs: n }),
  'huge-line': (n) => ({ hugeLineBytes: n }),
  'no-usage': () => ({ noUsage: true }),
  'error-in-200': () => ({ errorIn200: true }),
  'hang-up': () => ({ hangUp: true }),
  'echo-key': () => ({ echoKey: true }),
  gzip: () => ({ gzip: true }),
}

/** Reads the programs at the end of a model name; an empty program for a name without any. */
export function programOfModel(model) {
  const [, ...parts] = String(model ?? '').split('--')
  return Object.assign({}, ...parts.map(programOfPart))
}

function programOfPart(part) {
  const [, name = part, number = '0'] = /^(.*?)(?:-(\d+))?$/.exec(part) ?? []
  const known = ofName[part] ?? ofName[name]
  if (!known) throw new Error(`The simulated provider knows no program "${part}"; it knows: ${Object.keys(ofName).join(', ')}`)
  return known(Number(number))
}

/** The pieces that are sent, one write each: events, a fixture's bytes, or either cut into pieces of a size. */
export function* writesOf(pieces, pieceBytes) {
  for (const { bytes, words } of pieces) {
    const whole = Buffer.from(bytes)
    const size = pieceBytes || whole.length || 1
    for (let at = 0; at < whole.length; at += size) {
      const last = at + size >= whole.length
      yield { bytes: whole.subarray(at, at + size), words: last ? words : 0, endsEvent: last }
    }
  }
}
