/**
 * Ends the process with one sentence when its Node is too old. Imported by the first file of a program, before anything else, because
 * an older Node fails while it loads other modules.
 */
const majorMin = 24

const { node } = process.versions
if (Number(node.split('.')[0]) < majorMin) {
  process.stderr.write(
    `Sluice needs Node ${majorMin} or later; this is Node ${node}. Install Node ${majorMin} from https://nodejs.org and start it again.\n`,
  )
  process.exit(1)
}
