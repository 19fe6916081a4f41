/** The diagram as a file of its own: an SVG picture that needs nothing else. */
import { participantsOf, type Tape } from '../engine/tape.ts'
import { diagramOf, LABELS_WIDTH } from './diagram.ts'
import { escapeText, shapeText } from './shape.ts'

/** More than this is no picture any more. */
export const MAX_EXPORTED = 1_500

/** The same rules as on the page (style/diagram.css), with the colours of the light page. */
const STYLE = `
text{font:11px system-ui,sans-serif;fill:#545d68}
.label{font-size:12px;font-weight:700;fill:#1a2027;text-anchor:middle}
.name,.word,.inside{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}
.label-body{fill:#eceeec}.veil{display:none}.message .name{font-size:8.5px;text-anchor:middle}
.message.deciding .name{fill:#7a5200}.time{font-size:10px}.grid{stroke:#dde1dd}
.pause{stroke:#545d68;fill:none}.cursor{display:none}.life{stroke-width:2}.life.owner{stroke-width:6}
.life.paused{stroke-dasharray:2 6}.life.down{stroke:#a33a2a;stroke-width:1.5;stroke-dasharray:3 5}
.life.outside{stroke:#a5afba;stroke-dasharray:6 4}.life.epoch-0{stroke:#0b6b58}.life.epoch-1{stroke:#2456a6}
.life.epoch-2{stroke:#8a3d8f}.life.epoch-3{stroke:#a34a00}.life.epoch-4{stroke:#5a6b00}
.life.epoch-5{stroke:#a32a54}.section rect{fill-opacity:.16;stroke-width:1}
.section.open rect{stroke-dasharray:4 3}.section.epoch-0 rect{fill:#0b6b58;stroke:#0b6b58}
.section.epoch-1 rect{fill:#2456a6;stroke:#2456a6}.section.epoch-2 rect{fill:#8a3d8f;stroke:#8a3d8f}
.section.epoch-3 rect{fill:#a34a00;stroke:#a34a00}.section.epoch-4 rect{fill:#5a6b00;stroke:#5a6b00}
.section.epoch-5 rect{fill:#a32a54;stroke:#a32a54}.inside{fill:#1a2027;font-weight:600}
.message line{stroke:#545d68;stroke-width:1.2}.message .head,.message .tip{fill:#545d68}
.message.quiet{opacity:.35}.message.deciding line{stroke:#7a5200}
.message.deciding .head,.message.deciding .tip{fill:#7a5200}
.message.lost line{stroke:#a33a2a;stroke-dasharray:3 3}
.message .cross{stroke:#a33a2a;stroke-width:1.6;fill:none}.message.flying line{stroke-dasharray:3 3}
.sign{stroke:#a33a2a;stroke-width:2.4;fill:none;stroke-linecap:round}
.sign.start,.sign.resume{fill:#0b6b58;stroke:none}.sign.try{fill:#fff;stroke:#7a5200;stroke-width:1.6}
.sign.issue{fill:#fff;stroke:#2456a6;stroke-width:1.6}.sign.applied{fill:#2456a6;stroke:none}
.sign.restored{fill:#2456a6;stroke:none}.word{font-size:10px}.tick{stroke:#a5afba}
.word.suspects,.word.cut{fill:#a33a2a}.word.epoch,.word.members{fill:#7a5200}
`

/** The moments before `position`; of a long run, the last of them. */
export function diagramFile(tape: Tape, position: number): string {
  const frame = { first: Math.max(0, position - MAX_EXPORTED), end: position, position }
  const { shapes, labels, left, width, height } = diagramOf(tape, frame)
  const whole = LABELS_WIDTH + width
  const title = `${tape.protocol}, ${participantsOf(tape).length} participants`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="${height}" viewBox="0 0 ${whole} ${height}">`,
    `<title>${escapeText(title)}</title><style>${STYLE}</style>`,
    `<rect width="${whole}" height="${height}" fill="#fff"/>`,
    `<g transform="translate(${LABELS_WIDTH - left} 0)">${shapes.map(shapeText).join('')}</g>`,
    `<rect width="${LABELS_WIDTH}" height="${height}" fill="#fff"/>${labels.map(shapeText).join('')}`,
    '</svg>\n',
  ].join('\n')
}
