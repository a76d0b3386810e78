import { imageTensor } from "larq-engine";

globalThis.run = imageTensor;
