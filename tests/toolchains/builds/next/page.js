"use client";

import { useEffect } from "react";
import { train } from "../program.js";

export default function Page() {
  useEffect(() => {
    globalThis.trained = train().catch((error) => ({ error: String(error.stack ?? error) }));
  }, []);
  return <p>A step of training</p>;
}
